"""xt.to_torch: values, derivatives to third order, torch.compile, modules, shared memory, errors."""

from __future__ import annotations

import copy
import functools
import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from places import ROOT

torch = pytest.importorskip("torch", reason="PyTorch is not installed (XTENSOR_PEERS=1)")
pytestmark = pytest.mark.cpu_only("PyTorch's tensors are on the CPU")


def layer(p: Any, x: Any) -> Any:
    h = xt.tanh(xt.dot(x, p["w"], dim="i") + p["b"])
    return {"y": h, "best": xt.argmax(h, "o"), "loss": (h * h).sum()}


def layer_of_torch(p: Any, x: Any) -> Any:
    h = torch.tanh(x @ p["w"] + p["b"])
    return {"y": h, "best": h.argmax(1), "loss": (h * h).sum()}


PARAMETERS = {"w": xt.spec(i=3, o=4, dtype="f8"), "b": xt.spec(o=4, dtype="f8")}
INPUT = xt.spec(batch=None, i=3, dtype="f8")


def tensor(*shape: int, seed: int = 0, **options: Any) -> Any:
    values = np.random.default_rng(seed).normal(size=shape)
    return torch.tensor(values, requires_grad=True, **options)


def arguments(batch: int = 5) -> tuple[Any, Any]:
    return {"w": tensor(3, 4), "b": tensor(4, seed=1)}, tensor(batch, 3, seed=2)


def test_values_and_three_derivatives_are_those_of_pytorch() -> None:
    g = xt.to_torch(layer, (PARAMETERS, INPUT))
    p, x = arguments()
    leaves = [p["w"], p["b"], x]

    def derivatives(f: Any) -> list[Any]:
        out = f(p, x)
        found = [out["y"], out["best"], out["loss"]]
        total = out["loss"] + (out["y"] ** 3).sum()
        for order in range(3):
            gradients = torch.autograd.grad(total, leaves, create_graph=order < 2)
            found += gradients
            total = sum((d * d).sum() for d in gradients)
        return found

    for got, want in zip(derivatives(g), derivatives(layer_of_torch), strict=True):
        assert got.dtype == want.dtype
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-9)
    p, x = arguments(2)  # another size, and gradients that nobody asks for
    torch.testing.assert_close(g(p, x.detach())["loss"], layer_of_torch(p, x)["loss"])


def test_gradcheck_of_a_function_whose_residuals_are_arguments() -> None:
    g = xt.to_torch(lambda x, y: xt.dot(xt.sin(x), y, dim="i"), (xt.spec(a=None, i=3), xt.spec(i=3, b=None)))
    given = (tensor(2, 3), tensor(3, 2, seed=1))
    assert torch.autograd.gradcheck(g, given)
    assert torch.autograd.gradgradcheck(g, given)


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_a_call_in_a_checkpoint_of_pytorch(use_reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    g = xt.to_torch(xt.tanh, (xt.spec(b=None),))
    x = tensor(5)
    checkpoint(g, x, use_reentrant=use_reentrant).sum().backward()
    torch.testing.assert_close(x.grad, 1 - torch.tanh(x.detach()) ** 2, rtol=1e-12, atol=1e-12)


def test_complex_tensors() -> None:
    g = xt.to_torch(lambda z: xt.abs(z * z) + xt.real(z), xt.spec(a=None, dtype="c16"))
    z = torch.complex(tensor(3), tensor(3, seed=1)).detach().requires_grad_()
    (got,) = torch.autograd.grad(g(z.conj()).sum(), [z])
    (want,) = torch.autograd.grad(((z.conj() ** 2).abs() + z.conj().real).sum(), [z])
    torch.testing.assert_close(got, want)


def test_residuals_with_names_of_the_compiler() -> None:
    g = xt.to_torch(lambda z: xt.linalg.svd(z)[1], xt.spec(row=4, col=None, dtype="c16"))
    z = torch.complex(tensor(4, 3), tensor(4, 3, seed=1)).detach().requires_grad_()
    torch.testing.assert_close(g(z), torch.linalg.svdvals(z))
    assert torch.autograd.gradcheck(g, (z,))


def test_numbers_are_parameters_and_constants() -> None:
    module = xt.to_torch(lambda p, x: p["w"] * x, xt.spec(a=2, dtype="f8"), parameters={"w": 2.5})
    module(torch.ones(2, dtype=torch.float64)).sum().backward()
    assert module.w.grad == 2
    g = xt.to_torch(lambda x, k: k * x, (xt.spec(a=2, dtype="f8"), 3.0))
    x = torch.ones(2, dtype=torch.float64)
    assert g(x, 3.0).sum() == 6
    with pytest.raises(xt.ArgumentError, match=r"argument \[1\] is 4.0, and args= says 3.0. What is not an array"):
        g(x, 4.0)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_call_is_a_part_of_a_compiled_graph(backend: str) -> None:
    g = xt.to_torch(layer, (PARAMETERS, INPUT))
    compiled = torch.compile(lambda p, x: 2 * g(p, x)["loss"], backend=backend, fullgraph=True)
    for batch in (5, 7, 9):  # from the second size on, PyTorch lets it vary
        p, x = arguments(batch)
        (got,) = torch.autograd.grad(compiled(p, x), [x])
        (want,) = torch.autograd.grad(2 * layer_of_torch(p, x)["loss"], [x])
        torch.testing.assert_close(got, want)


def test_a_module_has_the_pytree_as_parameters() -> None:
    start = {"w": xt.ones(i=3, o=4), "b": xt.zeros(o=4)}
    module = xt.to_torch(layer, (INPUT,), parameters=start)
    assert {name: tuple(v.shape) for name, v in module.named_parameters()} == {"w": (3, 4), "b": (4,)}
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = module(tensor(5, 3))["loss"]
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > losses[1] > losses[2]
    assert (start["w"].values == 1).all()  # not the memory that is trained


def test_memory_is_shared_on_the_way_in_and_never_with_a_result() -> None:
    c = xt.ones(a=3)
    seen: list[int] = []

    @xt.jit
    def f(x: Any) -> Any:
        return x, x, xt.transpose(x), 2 * x, c

    x = tensor(4, 3).detach()
    g = xt.to_torch(f, xt.spec(b=None, a=3))
    results = g(x)
    places = {x.data_ptr(), *(r.data_ptr() for r in results)}
    assert len(places) == 1 + len(results)
    results[4].zero_()
    assert (c.values == 1).all()
    eager = xt.named(lambda x: seen.append(x.values.ctypes.data), [("b", "a")])
    eager(x.numpy())
    assert seen == [x.data_ptr()]
    reversed_ = x.T.flip(0)
    torch.testing.assert_close(xt.to_torch(lambda x: 2 * x, xt.spec(a=3, b=None))(reversed_), 2 * reversed_)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "int8", "uint8", "int64", "bool"])
def test_dtypes(dtype: str) -> None:
    kind = getattr(torch, dtype)
    x = torch.tensor([1, 0, 3]).to(kind)
    got = xt.to_torch(lambda x: x, xt.spec(a=3, dtype=dtype))(x)
    assert got.dtype == kind and torch.equal(got, x)


def test_errors_say_which_argument_and_what_args_has() -> None:
    g = xt.to_torch(layer, (PARAMETERS, INPUT))
    p, x = arguments()
    with pytest.raises(
        xt.DTypeError, match=r"argument \[1\] is float32, and args= says float64. Write x.to\(torch.float64\)"
    ) as e:
        g(p, x.float())
    assert e.value.parts[1] is not None and e.value.parts[1].startswith(__file__)
    with pytest.raises(xt.SizeError, match=r"shape \(5, 4\), and args= says \(batch: \?, i: 3\)"):
        g(p, tensor(5, 4))
    with pytest.raises(xt.SizeError, match=r"shape \(3, 5\).*another order, write x.permute\(1, 0\)"):
        g(p, x.T)
    for bad, said in (
        (3.0, r"a float, not a torch.Tensor. Write torch.tensor\(x\)"),
        (np.ones((5, 3)), r"an ndarray, not a torch.Tensor. Write torch.as_tensor\(x\)"),
        (xt.ones(batch=5, i=3), r"an Array, not a torch.Tensor. Write torch.from_dlpack\(x\), or call"),
        (xt.ones(batch=5, i=3).to_xarray(), r"a DataArray, not a torch.Tensor. Write torch.as_tensor\(x.values\)"),
    ):
        with pytest.raises(xt.ArgumentTypeError, match=said):
            g(p, bad)
    with pytest.raises(xt.ArgumentTypeError, match=r"is a Tracer, .*named arrays itself, layer\("):
        xt.grad(lambda x: xt.sum(g(p, x)["y"]))(xt.ones(batch=5, i=3))
    with pytest.raises(xt.ArgumentTypeError, match=r"the arguments are .* and those of args= are .*Give one array"):
        g(p)
    with pytest.raises(xt.UnsupportedError, match=r"sparse_coo. Write x.to_dense\(\)"):
        g(p, x.detach().to_sparse())
    with pytest.raises(xt.DeviceError, match=r"is on meta. Move it by x.cpu\(\)"):
        g(p, x.detach().to("meta"))
    torch.testing.assert_close(g(x=x, p=p)["y"], g(p, x)["y"])
    with pytest.raises(xt.ArgumentTypeError, match=r"z= is given by keyword.*by position"):
        g(p, z=x)
    with pytest.raises(xt.ArgumentTypeError, match=r"an Array, not a torch.Tensor. Write torch.from_dlpack\(x\)"):
        g(p, xt.ones(batch=5, i=3))
    loss = functools.partial(lambda x: g(p, x)["loss"])
    for transform in (torch.func.grad, torch.func.jacrev):
        with pytest.raises(xt.UnsupportedError, match=r"torch.func.grad and.*xt.to_torch\(xt.grad\(f\), args\)"):
            transform(loss)(x.detach())
    with pytest.raises(xt.UnsupportedError, match=r"a tensor has a tangent.*xt.jvp"), torch.no_grad():
        torch.func.jvp(lambda x: g(p, x)["loss"], (x,), (x,))
    with pytest.raises(xt.ArgumentTypeError, match="without named dims, of shape"):
        xt.to_torch(layer, (np.ones(3),))
    with pytest.raises(xt.ArgumentTypeError, match="args= has the type of no array, but 'batch'"):
        xt.to_torch(layer, ("batch", "pixel"))


def test_names_of_ops_say_which_program_they_run() -> None:
    """PyTorch's cache of compiled graphs knows an op by its name, and has the sizes of its results in the code."""
    x = tensor(4, 3)

    from torch.fx.experimental.proxy_tensor import make_fx

    def name(f: Any) -> tuple[str, str]:
        g = xt.to_torch(f, (xt.spec(b=None, i=3),))
        (node,) = [n for n in make_fx(g)(x).graph.nodes if str(n.target).startswith("xtensor.")]
        number, digest = str(node.target).removesuffix("_forward.default").removesuffix(".default").rsplit("_", 1)
        return number, digest

    def over(dim: str) -> Any:
        return lambda x: xt.sum(xt.tanh(x), dim)

    first, other, again = name(over("i")), name(over("b")), name(over("i"))
    assert first[1] == again[1] != other[1]
    assert len({first[0], other[0], again[0]}) == 3


def test_an_exported_program_never_calls_another_function_of_the_name(tmp_path: Path) -> None:
    """torch.export refers to ops by name. They are those of this process."""
    program = """
import sys
import torch
import xtensor as xt

path, name = sys.argv[1:]
f = {"writes": lambda x: xt.cos(x), "reads": lambda x: xt.sin(x)}[name]
g = xt.to_torch(f, (xt.spec(b=None, i=3, dtype="f8"),))
x = torch.ones(2, 3, dtype=torch.float64)
g(x)


class Layer(torch.nn.Module):
    def forward(self, x):
        return g(x) + torch.vmap(g)(x[None])[0]


if name == "writes":
    torch.export.save(torch.export.export(Layer(), (x,)), path)
torch.testing.assert_close(torch.export.load(path).module()(x), 2 * torch.cos(x))
print("found")
"""

    def run(name: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, str(tmp_path / "layer.pt2"), name]
        return subprocess.run(command, capture_output=True, text=True)

    assert (done := run("writes")).stdout == "found\n", done.stderr
    assert "failed to resolve torch.ops.xtensor" in (done := run("reads")).stderr and not done.stdout


def test_functions_of_pytorch_refuse_what_xtensor_traces() -> None:
    x = torch.ones(2)
    for f, said in (
        (torch.tanh, r"torch.tanh of an array that xtensor traces: write xt.tanh\(x\)"),
        (lambda a: torch.nn.functional.softmax(a, 0), r"torch.softmax .*: write xt.nn.softmax\(x\)"),
        (torch.linalg.det, r"torch.linalg_det .*: write xt.linalg.det\(a\)"),
        (lambda a: torch.cat([a, a]), r"torch.cat .*: write xt.concat"),
        (torch.randn_like, r"torch.randn_like .*: write it with functions of xt"),
        (lambda a: x.add(a), r"torch.add .*: write xt.add\(x, y\)"),
    ):
        with pytest.raises(xt.ArgumentTypeError, match=said) as e:
            xt.jit(f)(xt.ones(a=2))
        assert e.value.parts[1] is not None and e.value.parts[1].startswith(__file__)
    with pytest.raises(xt.DimensionError, match=r"xt.multiply: a torch.Tensor of shape \(2,\) has no named dims"):
        xt.jit(lambda a: x * a)(xt.ones(a=2))


def test_errors_of_a_module_name_what_the_caller_gave() -> None:
    for given, text in ((np.ones(2), r"\['w'\] is an ndarray of shape \(2,\)"), ("w", r"\['w'\] is a str")):
        with pytest.raises(xt.ArgumentTypeError, match=rf"parameters{text}. It is a pytree of arrays with named dims"):
            xt.to_torch(lambda p, x: x, INPUT, parameters={"w": given})
    module = xt.to_torch(layer, (INPUT,), parameters={"w": xt.ones(i=3, o=4), "b": xt.zeros(o=4)})
    with pytest.raises(xt.SizeError, match=r"argument \[0\] has the shape \(5, 4\)"):
        module(tensor(5, 4))
    with pytest.raises(xt.ArgumentTypeError, match=r"the arguments are \(\), and those of args= are \(\*\)"):
        module()
    torch.testing.assert_close(module(x=tensor(5, 3))["y"], module(tensor(5, 3))["y"])
    with pytest.raises(xt.DTypeError, match=r"parameters\['w'\] is float32.*make it from parameters= of float32"):
        module.float()(tensor(5, 3))


def test_the_page_runs() -> None:
    command = [sys.executable, str(ROOT / "scripts/run_pages.py"), str(ROOT / "docs/torch.md")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "torch.md runs" in done.stdout, done.stdout + done.stderr


def test_a_function_keeps_the_programs_of_its_latest_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[int] = []

    def f(x: Any) -> Any:
        met.append(x.sizes["a"])
        return x * x

    xt.to_torch(f, xt.spec(a=None))  # imports the module
    monkeypatch.setattr(sys.modules["xtensor.bridges.torch"], "MOST", 2)
    g = xt.to_torch(f, xt.spec(a=None))
    for n in (2, 3, 2, 4, 2, 3):
        x = tensor(n)
        g(x).sum().backward()
        torch.testing.assert_close(x.grad, 2 * x.detach())
    assert [n for n, m in zip(met, [0, *met], strict=False) if n != m] == [2, 3, 4, 3]


def test_batches_of_calls() -> None:
    """torch.vmap along any axes, within itself, and with a derivative around it."""
    g = xt.to_torch(layer, (PARAMETERS, INPUT))
    p, _ = arguments()
    xs, ws = tensor(7, 5, 3, seed=3), tensor(3, 4, 7, seed=4)

    def f(w: Any, x: Any) -> Any:
        return g({"w": w, "b": p["b"]}, x)["y"]

    found = torch.vmap(f, in_dims=(2, 0))(ws, xs)
    want = torch.tanh(torch.einsum("nbi,ion->nbo", xs, ws) + p["b"])
    torch.testing.assert_close(found, want)
    torch.testing.assert_close(torch.vmap(f, in_dims=(None, 0))(p["w"], xs), torch.stack([f(p["w"], x) for x in xs]))
    twice = torch.vmap(torch.vmap(f, in_dims=(None, 0)), in_dims=(2, None))(ws, xs)
    torch.testing.assert_close(twice, torch.tanh(torch.einsum("nbi,iom->mnbo", xs, ws) + p["b"]))
    for a, b in zip(
        torch.autograd.grad((found**2).sum(), [ws, xs, p["b"]]),
        torch.autograd.grad((want**2).sum(), [ws, xs, p["b"]]),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def test_gradients_of_many_results_at_once() -> None:
    g = xt.to_torch(layer, (PARAMETERS, INPUT))
    p, x = arguments()

    def y(w: Any) -> Any:
        return g({"w": w, "b": p["b"]}, x)["y"]

    jacobian = torch.autograd.functional.jacobian
    torch.testing.assert_close(jacobian(y, p["w"], vectorize=True), jacobian(y, p["w"]))
    cotangents = tensor(6, 5, 4, seed=5)
    (found,) = torch.autograd.grad(y(p["w"]), p["w"], cotangents, is_grads_batched=True)
    torch.testing.assert_close(found, torch.stack([torch.autograd.grad(y(p["w"]), p["w"], c)[0] for c in cotangents]))
    hessian = torch.autograd.functional.hessian
    loss = lambda w: (y(w) ** 3).sum()  # noqa: E731
    torch.testing.assert_close(hessian(loss, p["w"], vectorize=True), hessian(loss, p["w"]))


@pytest.mark.parametrize("copied", ["pickle", "deepcopy", "torch.save"])
def test_copies_and_pickles(copied: str) -> None:
    def again(thing: Any) -> Any:
        if copied == "deepcopy":
            return copy.deepcopy(thing)
        if copied == "pickle":
            return pickle.loads(pickle.dumps(thing))
        file = io.BytesIO()
        torch.save(thing, file)
        file.seek(0)
        return torch.load(file, weights_only=False)

    p, x = arguments()
    g = xt.to_torch(layer, (PARAMETERS, INPUT))
    torch.testing.assert_close(again(g)(p, x), g(p, x))
    start = {"w": xt.ones(i=3, o=4), "b": xt.zeros(o=4)}
    module = xt.to_torch(layer, (INPUT,), parameters=start)
    module(x)
    other = again(module)
    torch.testing.assert_close(other(x), module(x))
    assert [n for n, _ in other.named_parameters()] == [n for n, _ in module.named_parameters()]
    with torch.no_grad():
        next(other.parameters()).zero_()
    other(x)["loss"].backward()
    assert next(module.parameters()).abs().sum() > 0 and next(module.parameters()).grad is None


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "bool", "c8"])
def test_torch_does_not_read_the_bytes_of_an_array_as_its_own_dtype(dtype: str) -> None:
    x = xt.ones(a=2, b=4, dtype=dtype)
    for read in (torch.asarray, lambda x: torch.frombuffer(x, dtype=torch.float32)):
        with pytest.raises(RuntimeError, match="could not retrieve buffer"):
            read(x)
    for read in (torch.from_dlpack, torch.as_tensor, torch.tensor):
        y = read(x)
        assert y.shape == (2, 4) and y.numpy().dtype == x.dtype
        np.testing.assert_array_equal(y.numpy(), x.values)
