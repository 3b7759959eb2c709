"""What to write for layers, distributions and factors of JAX, PyTorch, NumPy and SciPy that are not here."""

from __future__ import annotations

from . import scipys

_KEY = "write key = xt.random.key(0): functions that draw take a key"
_LOOP = 'it is not there: write the step of the cell as a function, and xt.scan(step, state, x, dim="time")'
_LAYOUT = 'it is not there: write xt.dot of scaled arrays, x.astype(..) and xt.dot(x, y, dim="k")'
_SCIPYS = "it is not there: outside of derivatives, xt.callback calls SciPy's function of the values"
_NUMPYS = "it is not there: draw by NumPy's generator, and pass the array"
_UNIFORM = "write xt.random.uniform(key, time=3)"

_PARAMETERS = "write a function of a dict of its parameters, def model(parameters, x)"

LAYERS: dict[str, str] = {
    **dict.fromkeys(("Module", "ModuleList", "ModuleDict", "Sequential", "Parameter", "ParameterList"), _PARAMETERS),
    "functional": "its functions are in xt.nn and xt: xt.nn.softmax(x, \"class\"), xt.relu(x)",
    "init": "write xt.random.normal(key, row=3, col=4) * scale, or another function of xt.random",
    **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"),
                    'write xt.nn.batch_norm(x, ("batch", "h", "w"), weight, bias): the dims to average over'),
    "LayerNorm": 'write xt.nn.layer_norm(x, "feature", weight, bias)',
    "RMSNorm": 'write xt.nn.rms_norm(x, "feature", weight)',
    "GroupNorm": 'write xt.nn.group_norm(x, groups, "channel", ("h", "w"), weight, bias)',
    **dict.fromkeys(("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
                    'write xt.nn.layer_norm(x, ("h", "w"))'),
    **dict.fromkeys(("Embedding", "EmbeddingBag"), "write table.isel(word=i)"),
    "CrossEntropyLoss": 'write xt.nn.cross_entropy(logits, labels, "class").mean()',
    "MSELoss": "write xt.mean((x - y) ** 2)", "L1Loss": "write xt.mean(xt.abs(x - y))",
    "BCELoss": "write -xt.mean(xt.xlogy(y, x) + xt.xlogy(1 - y, 1 - x))",
    "BCEWithLogitsLoss": "write xt.mean(xt.softplus(x) - x * y)",
    "NLLLoss": 'write -xt.mean(xt.take_along(log_p, labels.expand_dims("class"), dim="class"))',
    **dict.fromkeys(("HuberLoss", "SmoothL1Loss"),
                    "write xt.mean(xt.where(xt.abs(x - y) < 1, (x - y) ** 2 / 2, xt.abs(x - y) - 0.5))"),
    **dict.fromkeys(("Flatten", "Unflatten"), "names say which dims go together: it is rarely needed"),
    "celu": "write a * xt.elu(x / a)",
    "glu": 'write the two halves, u and v = xt.split(x, 2, dim="feature"), and u * xt.sigmoid(v)',
    "relu6": "write xt.clip(x, 0.0, 6.0)",
    **dict.fromkeys(("hard_tanh", "hardtanh"), "write xt.clip(x, -1.0, 1.0)"),
    **dict.fromkeys(("hard_sigmoid", "hardsigmoid"), "write xt.clip(x / 6 + 0.5, 0.0, 1.0)"),
    **dict.fromkeys(("hard_silu", "hard_swish", "hardswish"), "write x * xt.clip(x / 6 + 0.5, 0.0, 1.0)"),
    "swish": "write xt.silu(x)", "mish": "write x * xt.tanh(xt.softplus(x))",
    **dict.fromkeys(("soft_sign", "softsign"), "write x / (1 + xt.abs(x))"),
    "squareplus": "write (x + xt.sqrt(x**2 + 4)) / 2",
    "sparse_plus": "write xt.where(x > 1, x, xt.square(xt.maximum(x + 1, 0.0)) / 4)",
    "sparse_sigmoid": "write xt.clip((x + 1) / 2, 0.0, 1.0)",
    "log1mexp": "write xt.where(x > 0.69, xt.log1p(-xt.exp(-x)), xt.log(-xt.expm1(-x)))",
    "logmeanexp": 'write xt.logsumexp(x, "time") - math.log(x.sizes["time"])',
    "standardize": 'write xt.nn.layer_norm(x, "feature")',
    **dict.fromkeys(("dot_product_attention", "scaled_dot_product_attention", "MultiheadAttention"),
                    'write xt.nn.attention(q, k, v, ("query", "key", "feature"))'),
    **dict.fromkeys(("lstm", "LSTM", "gru", "GRU", "rnn", "RNN", "LSTMCell", "GRUCell", "RNNCell"), _LOOP),
    **dict.fromkeys(("scaled_matmul", "scaled_dot_general", "get_scaled_dot_general_config"), _LAYOUT),
    "initializers": "write xt.random.normal(key, row=3, col=4) * scale, or another function of xt.random",
    "associative_scan": "it is not there: write xt.cumsum, xt.cumprod or xt.cummax, or xt.scan for another function",
    "pmap": 'write xt.vectorize(f, "batch") on one device; several processes share a program over MPI',
    "sparse": "it is not there: arrays are dense. Outside of derivatives, xt.callback calls SciPy's functions",
    "odeint": "it is not there: write xt.scan over the steps of the solver",
    "optimize": "it is not there: xt.optim has optimizers, and xt.implicit has derivatives of solutions",
    "spline": "it is not there: xt.interp is linear. Make splines by SciPy's, outside of derivatives",
}  # fmt: skip

DRAWS: dict[str, str] = {
    "pareto": "write xt.exp(xt.random.exponential(key, time=3) / a), and subtract 1 for NumPy's",
    "rayleigh": "write scale * xt.sqrt(2 * xt.random.exponential(key, time=3))",
    "maxwell": "write xt.sqrt(2 * xt.random.gamma(key, 1.5, time=3))",
    "negative_binomial": "write xt.random.poisson(k1, xt.random.gamma(k2, n, time=3) * (1 - p) / p)",
    "noncentral_chisquare":
        "write 2 * xt.random.gamma(k1, df / 2 + xt.random.poisson(k2, nonc / 2, time=3).astype(\"f8\"))",
    "triangular":
        "write xt.where(u < c, low + xt.sqrt(u * c) * (high - low), high - xt.sqrt((1 - u) * (1 - c)) * (high - low)), "
        "with u = xt.random.uniform(key, time=3) and c = (mode - low) / (high - low)",
    "orthogonal": "write xt.linalg.qr(xt.random.normal(key, row=3, col=3))[0], with the signs of R's diagonal",
    "weibull_min": "write scale * xt.random.exponential(key, time=3) ** (1 / a)",
    "f": "write (xt.random.gamma(k1, d1 / 2) / d1) / (xt.random.gamma(k2, d2 / 2) / d2)",
    "t": "write xt.random.student_t(key, df, time=3)",
    "random_integers": "write xt.random.randint(key, low, high + 1, time=3)",
    **dict.fromkeys(("random", "random_sample", "ranf", "sample"), _UNIFORM),
    "bytes": 'write xt.random.bits(key, time=3)', "clone": "write key: keys do not change",
    **dict.fromkeys(("vonmises", "wald", "zipf", "hypergeometric", "logseries", "noncentral_f", "generalized_normal",
                     "double_sided_maxwell", "ball", "random_gamma_p"), _NUMPYS),
    **dict.fromkeys(("Generator", "BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence",
                     "get_bit_generator", "get_state", "set_bit_generator", "set_state", "key_impl", "key_data",
                     "key_dtype", "wrap_key_data"), _KEY),
}  # fmt: skip

MATRICES: dict[str, str] = {
    "cho_factor": "write l = xt.linalg.cholesky(a), and xt.linalg.cho_solve(l, b)",
    "lu_factor": "write factors = xt.linalg.lu(a), and xt.linalg.lu_solve(factors, b)",
    "polar": "write u, s, vh = xt.linalg.svd(a): the unitary factor is the product of u and vh",
    **dict.fromkeys(("schur", "rsf2csf", "hessenberg", "qz", "ordqz", "ldl", "solve_sylvester", "solve_lyapunov",
                     "solve_continuous_lyapunov", "solve_discrete_lyapunov", "solve_continuous_are",
                     "solve_discrete_are", "funm", "signm"), _SCIPYS),
}  # fmt: skip

ROOMS = {"xt.random": DRAWS, "xt.linalg": MATRICES, "xt.signal": scipys.SIGNAL}


def instead(room: str, name: str) -> str | None:
    """What to write for a name of this module alone, before what other modules say of the name."""
    return ROOMS.get(room, {}).get(name)


def anywhere(name: str) -> str | None:
    """What to write for a name, whatever the module. Names of one letter mean too much."""
    found = LAYERS.get(name) or MATRICES.get(name) or scipys.anywhere(name)
    return found or (DRAWS.get(name) if len(name) > 5 else None)
