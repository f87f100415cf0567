# make run      install what is missing, build, run the main job, show its result
# make test     install what is missing, build, run all tests
# make build    install what is missing, leave a release build in build/
# make install  PREFIX=/usr/local, DESTDIR=: the command with manual and completion, headers, both libraries, CMake
#               package, twang.pc
# make uninstall  the same PREFIX and DESTDIR: removes what this build installs
# make bench-setup  what the rivals and the tables of docs/benchmarks.md need: packages and meshes
# make bench      measures the quick tables of docs/benchmarks.md again (some minutes)
# make reproduce  the figures of the 2022 paper in docs/figures, their tables on the terminal (a minute)
# make page     the page of `twang view` anew, by npm, into viewer/page/dist (which is committed)
# make docs     API reference and guides in build/docs/html
# make format   clang-format over the tree; make coverage: line coverage of the tests; make clean
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: build test run reproduce bench bench-setup install uninstall page docs format coverage clean
build:
	@tools/install_packages
	@cmake --preset release >/dev/null
	@cmake --build --preset release --parallel $(JOBS)
test: build
	@ctest --preset release --parallel $(JOBS)
run: build
	@tools/run_coil build
bench-setup:
	@tools/install_packages libsundials-dev python3-numpy python3-scipy gnuplot-nox
	@$(MAKE) --no-print-directory build
	@build/twang fetch-meshes
bench: build
	@bench/tables --quick
reproduce: build
	@bench/reproduce build
install: build
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"
uninstall:
	@tools/uninstall build "$(PREFIX)" "$(DESTDIR)"
page:
	@cd viewer/page && npm install --no-save --no-audit --no-fund && npm run build
docs:
	@tools/install_packages doxygen graphviz
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target docs
format:
	@tools/install_packages clang-format
	@git ls-files '*.c' '*.h' | xargs clang-format -i
coverage:
	@tools/install_packages gcovr
	@cmake --preset coverage >/dev/null
	@cmake --build --preset coverage --parallel $(JOBS)
	@ctest --preset coverage --parallel $(JOBS)
	@gcovr --root . --filter src/ --html-details build-coverage/coverage.html --print-summary build-coverage/CMakeFiles/twang_objects.dir
	@echo "build-coverage/coverage.html"
clean:
	rm -rf build build-*
