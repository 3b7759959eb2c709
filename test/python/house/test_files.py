"""Files that we write are written where people say: what is there stays a link, a pipe, a device, with its mode."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import xtensor as xt


@pytest.fixture(scope="module")
def bundle():
    return xt.export(lambda x: x + 1, args=(xt.spec(i=3),), c=False)


def test_a_link_is_followed(bundle, tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "m.xtb").symlink_to("real/m.xtb")
    bundle.save(tmp_path / "m.xtb")  # to a file that is not there
    (tmp_path / "real" / "m.xtb").write_bytes(b"old")
    bundle.save(tmp_path / "m.xtb")  # to one that is
    assert (tmp_path / "m.xtb").is_symlink()
    assert (tmp_path / "real" / "m.xtb").read_bytes() == bundle.data
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["m.xtb", "m.xtb", "real"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_modes_are_kept(bundle, tmp_path: Path, mode: int):
    path = tmp_path / "m.xtb"
    path.write_bytes(b"old")
    path.chmod(mode)
    bundle.save(path)
    assert path.read_bytes() == bundle.data
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_mode_that_open_gives(bundle, tmp_path: Path):
    (tmp_path / "other").write_bytes(b"")
    bundle.save(tmp_path / "m.xtb")
    assert (tmp_path / "m.xtb").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_pipe_is_written_to(bundle, tmp_path: Path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    bundle.save(pipe)
    reader.join()
    assert found == [bundle.data]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def _node(path: Path, minor: int) -> None:
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        path.open("wb").close()
    except PermissionError as error:
        pytest.skip(f"this process cannot make device nodes of its own: {error}")


@pytest.mark.parametrize("way", ["a node", "a link to a node"])
def test_a_device_is_written_to(bundle, tmp_path: Path, way: str):
    null, full = tmp_path / "null", tmp_path / "full"
    _node(null, 3)
    _node(full, 7)
    names = [null, full]
    if way == "a link to a node":
        names = [tmp_path / "to null", tmp_path / "to full"]
        for name, node in zip(names, (null, full), strict=True):
            name.symlink_to(node)
    bundle.save(names[0])
    with pytest.raises(xt.ArgumentError, match=r"full cannot be written: No space left on device"):
        bundle.save(names[1])
    for node in (null, full):
        assert stat.S_ISCHR(node.lstat().st_mode)


def test_a_pipe_of_this_process_is_written_to(bundle):
    read, write = os.pipe()
    found: list[bytes] = []
    with open(read, "rb") as file:
        reader = threading.Thread(target=lambda: found.append(file.read()))
        reader.start()
        xt.export(lambda x: x + 1, args=(xt.spec(i=3),), c=False, name="m", path=f"/proc/self/fd/{write}")
        os.close(write)
        reader.join()
    assert xt.load(found[0])(xt.ones(i=3).to("cpu")).values.tolist() == [2, 2, 2]


def test_what_cannot_be_written_is_an_error(bundle, tmp_path: Path):
    with pytest.raises(xt.ArgumentError, match="cannot be written: No such file or directory"):
        bundle.save(tmp_path / "missing" / "m.xtb")
    (tmp_path / "dangling").symlink_to("missing/m.xtb")
    with pytest.raises(xt.ArgumentError, match="cannot be written: No such file or directory"):
        bundle.save(tmp_path / "dangling")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(xt.ArgumentError, match="cannot be written: Too many levels of symbolic links"):
        bundle.save(tmp_path / "loop")
    with pytest.raises(xt.ArgumentError, match="cannot be written: Is a directory"):
        bundle.save(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(xt.ArgumentError, match="cannot be written: Not a directory"):
        bundle.save(tmp_path / "file" / "m.xtb")
    os.mknod(tmp_path / "socket", 0o666 | stat.S_IFSOCK)
    with pytest.raises(xt.ArgumentError, match="cannot be written: it is a socket or a disk, not a file"):
        bundle.save(tmp_path / "socket")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dangling", "file", "loop", "socket"]


def test_extract_replaces_what_is_in_its_folder(bundle, tmp_path: Path):
    os.mkfifo(tmp_path / "manifest.json")
    bundle.extract(tmp_path)
    assert (tmp_path / "manifest.json").read_text() == bundle.manifest_text


def test_dumped_phases_go_through_links(tmp_path: Path):
    (tmp_path / "there").mkdir()
    (tmp_path / "dump").symlink_to("there")
    code = f"""if True:
        import xtensor as xt
        with xt.debug.dump_phases({str(tmp_path / "dump")!r}):
            xt.jit(lambda x: x + 1)(xt.ones(i=3))
        print("done")
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"
    assert (tmp_path / "dump").is_symlink()
    (folder,) = (tmp_path / "there").iterdir()
    assert "xtensor.add" in (folder / "00-traced.mlir").read_text()
