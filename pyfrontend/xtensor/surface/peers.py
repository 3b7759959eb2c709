"""What to write for names of PyTorch, jax.lax, jax.tree_util, optax and PyTensor that are used often."""

from __future__ import annotations

from ..base.calls import GRAD
from .further import MATRICES

_FROZEN = "arrays do not change: write x.at(time=0).set(v), which returns a new one"
_NOT_NEEDED = "it is not needed: an array is stored in row-major order, and does not change"
_SCALE = "write scale * xt.random.normal(key, row=n, col=m), with scale = {}"
_WHOLE_WINDOW = 'write x.mean(("h", "w")) for one output; others are xt.nn.avg_pool(x, {"h": 2, "w": 2})'
_ARGUMENT = "it is an argument of a function: xt.spec(time=None) is its type"

# As functions and as methods. `y` is the other operand.
BOTH: dict[str, str] = {
    "mul": "write x * y", "sub": "write x - y", "div": "write x / y", "true_div": "write x / y", "neg": "write -x",
    "rem": "write x % y", "floor_div": "write x // y", "int_div": "write x // y", "eq": "write x == y",
    **dict.fromkeys(("ne", "neq"), "write x != y"),
    "lt": "write x < y", "le": "write x <= y", "gt": "write x > y", "ge": "write x >= y",
    "and_": "write x & y", "or_": "write x | y", "xor": "write x ^ y", "bitwise_not": "write ~x",
    "sqr": "write xt.square(x)", "sgn": "write xt.sign(x)", "frac": "write x - xt.trunc(x)",
    **dict.fromkeys(("clamp", "clamp_min", "clamp_max"), "write xt.clip(x, min=0.0, max=1.0)"),
    "lerp": "write x + (y - x) * weight",
    "addcmul": "write x + value * y * z", "addcdiv": "write x + value * y / z",
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), 'write z + xt.dot(x, y, dim="k")'),
    **dict.fromkeys(("mv", "ger", "batched_dot", "batch_matmul", "dot_general"),
                    'write xt.dot(x, y, dim="k"): names say which dims are contracted, and all others go together'),
    "take_along_dim": 'write xt.take_along(x, i, dim="time")',
    "index_select": "write x.isel(time=i)", "masked_select": "write x.isel(time=mask), outside of a traced function",
    "masked_fill": "write xt.where(mask, value, x)",
    **dict.fromkeys(("scatter", "scatter_reduce", "index_put", "index_copy", "index_fill", "set_subtensor",
                     "inc_subtensor"), "write x.at(time=i).set(v), .add(v), .multiply(v), .max(v) or .min(v)"),
    "repeat_interleave": 'write xt.repeat(x, 2, dim="time")', "narrow": "write x.isel(time=slice(1, 4))",
    "unbind": 'write xt.split(x, n, dim="time"), or xt.scan over the dim',
    **dict.fromkeys(("split_with_sizes", "tensor_split"), 'write xt.split(x, 3, dim="time"), or x.isel of slices'),
    "kthvalue": 'write xt.sort(x, "time").isel(time=k - 1)', "aminmax": "write x.min(), x.max()",
    "max_and_argmax": 'write x.max("time"), x.argmax("time")', "cdist":
        'write xt.norm(x - y.rename(point="other"), "axis"), of x(point, axis)',
    "dist": "write xt.norm(x - y)", "pinverse": "write xt.linalg.pinv(x)", "inverse": "write xt.linalg.inv(x)",
    "matrix_exp": "write xt.linalg.expm(x)", "cholesky_solve": "write xt.linalg.cho_solve(l, b)",
    "t": "write x.T, which is rarely needed: operands match by name",
    "adjoint": "write xt.conj(x).rename(a=\"b\", b=\"a\")",
    "movedim": 'write x.transpose("b", "a")', "swapdims": 'write x.transpose("b", "a")',
    "dimshuffle": "names say which dims go together; x.expand_dims(new=1) adds one",
    "expand": "write x.expand_dims(time=3), or x.broadcast_like(y)", "expand_as": "write x.broadcast_like(y)",
    "view_as": 'x.stack(z=("a", "b")) makes one dim of several, x.unstack(z={"a": 2, "b": 3}) several of one',
    "numel": "write x.size", "nelement": "write x.size", "dim": "write x.ndim",
    "element_size": "write x.dtype.itemsize",
    "clone": "arrays do not change: x itself will do", "contiguous": _NOT_NEEDED, "is_contiguous": _NOT_NEEDED,
    "as_strided": 'write x.rolling(time=3).construct("window")',
    "unfold": 'write x.rolling(time=3).construct("window", stride=3)',
    "is_floating_point": 'write x.dtype.kind == "f"', "type_as": "write x.astype(y.dtype)",
    "short": 'write x.astype("i2")', "char": 'write x.astype("i1")',
    "byte": 'write x.astype("u1")', "convert_element_type": 'write x.astype("f4")',
    "new_zeros": "write xt.zeros(time=3, dtype=x.dtype)", "new_ones": "write xt.ones(time=3, dtype=x.dtype)",
    "register_hook": 'write xt.debug.backward(x, "to x: {}") to print a cotangent, xt.custom_derivative to change it',
    "retain_grad": "write xt.grad of a function of this value", "is_leaf": "write xt.grad of a function of this value",
    "diag_embed": "write x * xt.eye(row=3, col=3, dtype=x.dtype) of a vector x(row)",
    "bucketize": 'write xt.searchsorted(edges, x, side="right")', "histc": "write xt.histogram(x, 10)[0]",
    "igamma": "write xt.gammainc(a, x)", "igammac": "write xt.gammaincc(a, x)", "mvlgamma":
        "write p * (p - 1) / 4 * math.log(math.pi) + xt.sum(xt.lgamma(a - xt.arange(p, dim=\"k\") / 2), \"k\")",
}  # fmt: skip

# As methods alone: the package has functions of these names.
METHODS: dict[str, str] = {
    **BOTH,
    "gather": 'write xt.take_along(x, i, dim="time"), or x.isel(time=i)', "unflatten": 'write x.unstack(z={"a": 2})',
    "bfloat16": 'write x.astype("bfloat16")',
    # of JAX's arrays
    **dict.fromkeys(("block_until_ready", "is_ready", "copy_to_host_async"), "write x.values, which waits"),
    **dict.fromkeys(("devices", "get_device", "platform", "committed", "is_cpu", "is_cuda"), "write x.device"),
    **dict.fromkeys(("sharding", "addressable_shards", "addressable_data", "global_shards", "is_fully_addressable",
                     "is_fully_replicated"), "an array is on one device: xt.jit(f, mesh=, split=) divides the work"),
    "aval": "write x.type", "weak_type": "write x.weak", "on_device_size_in_bytes": "write x.nbytes",
    **dict.fromkeys(("delete", "is_deleted"),
                    "it is not needed: memory goes with the array; xt.jit(f, donate=) reuses it"),
    "ptp": 'write x.max("time") - x.min("time")',
    # of PyTorch's tensors
    **dict.fromkeys(("mH", "H"), 'write xt.conj(x).rename(row="col", col="row")'),
    **dict.fromkeys(("reshape_as", "resize_as", "sum_to_size"), "names say which dims go together"),
    **dict.fromkeys(("stride", "storage", "untyped_storage", "storage_offset", "data_ptr", "layout", "pin_memory",
                     "is_pinned", "share_memory_", "resolve_conj", "resolve_neg"), _NOT_NEEDED),
    **dict.fromkeys(("is_sparse", "to_dense", "to_sparse", "coalesce"), "it is not needed: arrays are dense"),
    "ndimension": "write x.ndim", "new_full": "write xt.full(value, time=3, dtype=x.dtype)",
    "new_tensor": 'write xt.array(values, dims="time", dtype=x.dtype)', "new_empty": "write xt.zeros(time=3)",
    "msort": 'write xt.sort(x, "time")', "renorm": 'write x * xt.minimum(1, limit / xt.norm(x, "k"))',
    **dict.fromkeys(("hsplit", "vsplit", "dsplit"), 'write xt.split(x, 3, dim="time")'),
    "grad_fn": GRAD,
}  # fmt: skip

# PyTorch's methods for which the package says the same as for its functions.
AS_FUNCTIONS = frozenset({
    "allclose", "argwhere", "corrcoef", "diag", "fix", "fliplr", "flipud", "fmax", "fmin", "fmod", "frexp", "gcd",
    "heaviside", "is_complex", "isneginf", "isposinf", "isreal", "lcm", "ldexp", "logaddexp2", "logdet", "multinomial",
    "nanmean", "nanmedian", "nanquantile", "nansum", "rot90", "topk",
})  # fmt: skip

FUNCTIONS: dict[str, str] = {
    # losses and layers of torch.nn.functional
    "l1_loss": "write xt.mean(xt.abs(x - y))",
    "huber_loss": "write xt.mean(xt.where(xt.abs(x - y) < 1, (x - y) ** 2 / 2, xt.abs(x - y) - 0.5))",
    "smooth_l1_loss": "write xt.mean(xt.where(xt.abs(x - y) < 1, (x - y) ** 2 / 2, xt.abs(x - y) - 0.5))",
    "binary_cross_entropy": "write -xt.mean(xt.xlogy(y, x) + xt.xlogy(1 - y, 1 - x))",
    "binary_cross_entropy_with_logits": "write xt.mean(xt.softplus(x) - x * y)",
    "soft_margin_loss": "write xt.mean(xt.softplus(-y * x))",
    "poisson_nll_loss": "write xt.mean(xt.exp(x) - y * x)",
    "nll_loss": 'write -xt.mean(xt.take_along(log_p, labels.expand_dims("class"), dim="class"))',
    "cosine_similarity": 'write xt.dot(x, y, dim="k") / (xt.norm(x, "k") * xt.norm(y, "k"))',
    "pairwise_distance": 'write xt.norm(x - y, "k")', "normalize": 'write x / xt.norm(x, "k")',
    "linear": 'write xt.dot(x, w, dim="feature") + b', "embedding": "write table.isel(word=i)",
    "logsigmoid": "write xt.log_sigmoid(x)", "softmin": 'write xt.nn.softmax(-x, "class")',
    "hardshrink": "write xt.where(xt.abs(x) > 0.5, x, 0.0)",
    "softshrink": "write xt.sign(x) * xt.maximum(xt.abs(x) - 0.5, 0.0)",
    "tanhshrink": "write x - xt.tanh(x)", "threshold": "write xt.where(x > 0.1, x, 20.0)",
    "prelu": "write xt.where(x > 0, x, a * x)",
    "instance_norm": 'write xt.nn.layer_norm(x, ("h", "w"))',
    "gumbel_softmax": 'write xt.nn.softmax(logits + xt.random.gumbel(key, logits.sizes), "class")',
    **dict.fromkeys(("dropout1d", "dropout2d", "dropout3d"), "write xt.nn.dropout(key, x, rate), of a smaller array"),
    **dict.fromkeys(("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"), _WHOLE_WINDOW),
    "avg_pool3d": 'write xt.nn.avg_pool(x, {"d": 2, "h": 2, "w": 2})',
    "max_pool3d": 'write xt.nn.max_pool(x, {"d": 2, "h": 2, "w": 2})',
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
                    'write xt.nn.conv_transpose(x, w, {"h": "kh", "w": "kw"}, dim="channel")'),
    **dict.fromkeys(("conv_general_dilated", "conv_with_general_padding"),
                    'write xt.nn.conv(x, w, {"h": "kh", "w": "kw"}, dim="channel", stride=2, dilation=2)'),
    **dict.fromkeys(("interpolate", "upsample", "grid_sample"),
                    "write xt.repeat for the nearest, xt.interp along a dim"),
    **dict.fromkeys(("pixel_shuffle", "pixel_unshuffle"), "write x.unstack(..) and x.stack(..) of named dims"),
    # torch
    "functional_call": "parameters are arguments: write f(parameters, x)",
    **dict.fromkeys(("autograd", "requires_grad"), GRAD),
    **dict.fromkeys(("Module", "Sequential", "Parameter"),
                    "a model is a function of its parameters, which are a pytree"),
    "functional": "its functions are in xt and xt.nn: xt.relu(x), xt.nn.softmax(x, \"feature\")",
    **dict.fromkeys(("cuda", "mps"), 'write x.to("cuda"), or xt.option(device="cuda")'),
    "is_tensor": "write isinstance(x, xt.Array)", "set_default_dtype": 'write xt.option(default_float="f4")',
    "lr_scheduler": "a rate may be a function of the step: xt.optim.adam(xt.optim.cosine(0.1, 100))",
    **{name: MATRICES[name] for name in ("cho_factor", "lu_factor")},
    **dict.fromkeys(("enable_grad", "inference_mode"), "it is not needed: derivatives are taken where xt.grad says so"),
    "compile": "write xt.jit(f)", "autocast": 'write x.astype("f2"), and xt.nn.scaled_value_and_grad for the loss',
    "cartesian_prod": "names make the grid: x and y with different dims",
    "grad_and_value": "write xt.value_and_grad(f), which returns the value first",
    # torch.optim and optax
    **dict.fromkeys(("RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Adafactor", "Muon", "LBFGS",
                     "rmsprop", "adagrad", "lion", "lamb"), "there are xt.optim.sgd, momentum, adam, adamw and lbfgs"),
    "apply_updates": "it is not needed: optimizer.update returns the new parameters",
    "chain": "write xt.optim.clip_by_norm(gradients, 1.0), then optimizer.update(..)",
    "clip_grad_norm_": "write xt.optim.clip_by_norm(gradients, 1.0)",
    "clip_by_global_norm": "write xt.optim.clip_by_norm(gradients, 1.0)",
    # jax.lax
    **dict.fromkeys(("dynamic_slice", "dynamic_slice_in_dim"), 'write x.isel(time=xt.arange(3, dim="time") + i)'),
    "dynamic_index_in_dim": "write x.isel(time=i)", "index_in_dim": "write x.isel(time=0)",
    **dict.fromkeys(("dynamic_update_slice", "dynamic_update_slice_in_dim", "dynamic_update_index_in_dim"),
                    'write x.at(time=xt.arange(3, dim="time") + i).set(v)'),
    **dict.fromkeys(("slice_in_dim", "slice"), "write x.isel(time=slice(1, 4))"),
    "select_n": "write xt.where(condition, x, y)", "iota": 'write xt.arange(n, dim="time")',
    "broadcasted_iota": 'write xt.arange(n, dim="time"): other dims are not needed',
    "broadcast_in_dim": "write x.broadcast_like(y)", "collapse": 'write x.stack(z=("a", "b"))',
    "rev": 'write xt.flip(x, dim="a")',
    "erf_inv": "write xt.erfinv(x)", "bessel_i0e": "write xt.i0e(x)", "bessel_i1e": "write xt.i1e(x)",
    "integer_pow": "write x**2", "is_finite": "write xt.isfinite(x)",
    "reduce_sum": 'write x.sum("time")', "reduce_max": 'write x.max("time")', "reduce_min": 'write x.min("time")',
    "reduce_prod": 'write x.prod("time")', "reduce_and": 'write x.all("time")', "reduce_or": 'write x.any("time")',
    "reduce_window": "write x.rolling(time=3).sum(), or xt.nn.max_pool(x, {\"h\": 2})",
    "sort_key_val": "write values.isel(time=keys.argsort())",
    **dict.fromkeys(("custom_root", "custom_linear_solve"), "write xt.implicit(residual, solve)"),
    **dict.fromkeys(("psum", "pmean", "pmax", "pmin", "all_gather", "ppermute", "axis_index"),
                    "write x.sum(\"time\") of the whole array: xt.jit(f, mesh=, split=) divides the work"),
    # jax
    "make_jaxpr": 'write xt.jit(f).lower(x).as_text("traced")', "enable_x64": 'write xt.option(default_float="f8")',
    "disable_jit": "write xt.option(jit=False)", "debug_nans": 'write xt.option(nan="raise")',
    "numpy": "its functions are in xt: xt.sin(x)", "tree_util": "its functions are in xt.tree: xt.tree.map(f, tree)",
    "config": 'write xt.option(default_float="f4"), and the like', "named_call": "the program has f's name and lines",
    "device_get": "write x.values", "linear_transpose": "write xt.vjp(f, x)[1]",
    "pure_callback": "write xt.callback(f, x, ..)",
    "io_callback": "write xt.callback(f, x, result=.., ordered=True), or xt.debug.callback(f, x) for an effect alone",
    **dict.fromkeys(("explain", "log_compiles", "explain_cache_misses"),
                    'write xt.option(log="compile"), or look at f.compilations'),
    **dict.fromkeys(("assert_allclose", "assert_array_equal", "assert_close", "assert_equal"),
                    "write np.testing.assert_allclose(x.values, y.values)"),
    **dict.fromkeys(("check_grads", "gradcheck"), "write xt.testing.check_gradients(f, (x,))"),
    "set_trace": "write xt.debug.breakpoint()", "profiler": 'write with xt.profile("trace.json") as p: ..',
    "custom_gradient": "write xt.custom_derivative(f)",
    "closure_convert": "write xt.custom_derivative(f), of all arrays",
    **dict.fromkeys(("shard_map", "NamedSharding", "make_mesh"),
                    "write xt.jit(f, mesh=, split=) for processes over MPI"),
    "named_scope": "it is not needed: profiles name the lines of your program",
    # jax.tree_util
    "tree_flatten": "write xt.tree.flatten(tree)", "tree_unflatten": "write xt.tree.unflatten(structure, leaves)",
    "tree_structure": "write xt.tree.structure(tree)", "tree_reduce": "write xt.tree.reduce(f, tree)",
    **dict.fromkeys(("register_pytree_node", "register_pytree_node_class", "register_dataclass"),
                    "write xt.tree.register(cls, flatten, unflatten); dataclasses need not be registered"),
    **dict.fromkeys(("map_with_path", "tree_map_with_path", "flatten_with_path", "tree_flatten_with_path",
                     "leaves_with_path"), "write zip(xt.tree.paths(tree), xt.tree.leaves(tree))"),
    # jax.nn.initializers and torch.nn.init
    **dict.fromkeys(("glorot_normal", "xavier_normal"), _SCALE.format("math.sqrt(2 / (n + m))")),
    **dict.fromkeys(("he_normal", "kaiming_normal"), _SCALE.format("math.sqrt(2 / n)")),
    "lecun_normal": _SCALE.format("math.sqrt(1 / n)"),
    **dict.fromkeys(("glorot_uniform", "xavier_uniform"),
                    "write xt.random.uniform(key, -b, b, row=n, col=m), with b = math.sqrt(6 / (n + m))"),
    **dict.fromkeys(("he_uniform", "kaiming_uniform"),
                    "write xt.random.uniform(key, -b, b, row=n, col=m), with b = math.sqrt(6 / n)"),
    "lecun_uniform": "write xt.random.uniform(key, -b, b, row=n, col=m), with b = math.sqrt(3 / n)",
    # scipy.special
    "exp10": "write 10.0**x", "rel_entr": "write xt.xlogy(x, x / y)", "binom":
        "write xt.exp(xt.lgamma(n + 1) - xt.lgamma(k + 1) - xt.lgamma(n - k + 1))",
    "poch": "write xt.exp(xt.lgamma(x + n) - xt.lgamma(x))", "rgamma": "write xt.exp(-xt.lgamma(x)) for x > 0",
    "boxcox": "write (x**lmbda - 1) / lmbda", "log_expit": "write xt.log_sigmoid(x)", "exprel": "write xt.expm1(x) / x",
    # PyTensor
    **dict.fromkeys(("dscalar", "dvector", "dmatrix", "dtensor3", "fscalar", "fvector", "fmatrix", "ftensor3",
                     "iscalar", "ivector", "imatrix", "lscalar", "lvector", "lmatrix", "scalar", "vector", "matrix",
                     "tensor3", "xtensor", "as_tensor_variable", "as_xtensor"), _ARGUMENT),
    "function": "write xt.jit(f), of a Python function", "shared": "state is an argument and a result of a function",
    "ifelse": "write xt.cond(condition, f, g, x)", "wrap_py": "write xt.callback(f, x, ..)",
    "wrap_jax": "write xt.from_jax(f)",
    "pushforward": "write xt.jvp(f, (x,), (t,))", "pullback": "write xt.vjp(f, x)",
    "Rop": "write xt.jvp(f, (x,), (t,))",
    "Lop": "write xt.vjp(f, x)", "OpFromGraph": "write xt.custom_derivative(f)",
    "dprint": 'write xt.jit(f).lower(x).as_text("traced")', "tri_gamma": "write xt.polygamma(1, x)",
    "matrix_dot": 'write xt.linalg.matmul(a, b, dims=("row", "col"))', "fill_diagonal": _FROZEN,
}  # fmt: skip


def of_module(name: str) -> str | None:
    """What to write for a name that a module lacks."""
    return FUNCTIONS.get(name) or BOTH.get(name)
