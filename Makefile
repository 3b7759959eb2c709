# Thin on purpose: set-up is scripts/setup.sh, which does nothing when nothing has changed, and
# everything else is one line.
PYTHON := .venv/bin/python

.PHONY: setup develop demo test test-all test-devices test-vulkan test-metal fuzz fuzz-ir bench sweep lint \
  asan site wheel wheel-test wheels wheels-test wheel-aarch64 \
  wheel-aarch64-test sdist
setup:
	@scripts/setup.sh

# As setup, but Python files are used where they lie. The first time, and after each change of C++
develop:
	@XTENSOR_EDITABLE=1 scripts/setup.sh

demo: setup
	$(PYTHON) examples/digits.py

# What needs no device, nor what stands in for one: those tests are in a folder of their own
test: setup
	.venv/bin/lit -q test
	scripts/run_tests.sh $(filter-out test/python/devices/%,$(sort $(wildcard test/python/*/test_*.py)))

# The full matrix: every parameter and example of every test, here, under sanitizers and on each device
test-all: export XTENSOR_TEST_FULL = 1
test-all: test test-devices asan test-vulkan test-metal

# Tests that name their devices. Any message of Vulkan's validation layers is a failure
test-devices: export XTENSOR_VALIDATE = 1
test-devices: setup
	scripts/run_tests.sh test/python/devices/test_*.py

test-vulkan: setup
	scripts/test_device.sh vulkan

test-metal: setup
	scripts/test_device.sh metal

# Random programs against NumPy (test/fuzz), for as long as is wanted: make fuzz SECONDS=600 DEVICE=vulkan
SECONDS := 60
DEVICE := cpu
fuzz: setup
	$(PYTHON) test/fuzz/run.py --seconds $(SECONDS) --device $(DEVICE)

# Changed programs of the IR tests through the passes
fuzz-ir: setup
	$(PYTHON) test/fuzz/ir.py --seconds $(SECONDS)

bench: setup
	$(PYTHON) benchmarks/run.py
	$(PYTHON) benchmarks/first_calls.py chain softmax layernorm matmul mlp attention moments glm small
	$(PYTHON) benchmarks/compile_time.py
	$(PYTHON) benchmarks/guards.py
	$(PYTHON) benchmarks/gradient_cost.py
	$(PYTHON) benchmarks/gradient_memory.py
	$(PYTHON) benchmarks/fourier.py
	$(PYTHON) benchmarks/aot.py

# The cliffs of single ops: `make sweep FAMILY="moves casts"`; without FAMILY all of them. CORE=1
# chooses a core; without it, two sweeps at once take two.
sweep: setup
	$(PYTHON) benchmarks/sweep.py $(FAMILY) $(if $(CORE),--core $(CORE))

lint: setup
	scripts/lint.sh

asan: setup
	scripts/asan.sh

# The documentation as pages to browse, in build/site/html: its programs run, and a browser reads it
site: setup
	scripts/site.sh

# dist/xtensor_mlir-*.whl, which needs no LLVM where it is installed; then it is installed and tried
# in a Debian 12 without compilers and network (as root: mmdebstrap, chroot)
wheel: setup
	scripts/wheel.sh

wheel-test: wheel
	scripts/test_wheel.sh

# Wheels for the Pythons of newer Debians, too; each is tried in the Debian that has its Python
wheels: wheel
	scripts/wheels.sh

wheels-test: wheels
	for wheel in dist/*.whl; do scripts/test_wheel.sh "$$wheel" || exit; done

# A wheel for another processor, cross-built; it is tried in QEMU
wheel-aarch64: wheel
	scripts/wheel_aarch64.sh

wheel-aarch64-test: wheel-aarch64
	scripts/test_wheel.sh dist/*_aarch64.whl

# dist/xtensor_mlir-*.tar.gz, whose build fetches nothing but Python packages
sdist: setup
	scripts/sdist.sh
