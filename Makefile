# make run    install what is missing, build, run the main job, show its result
# make test   install what is missing, build, run all tests
.PHONY: build test run install clean
build:
	@tools/install_packages
	@cmake --preset release >/dev/null && cmake --build --preset release
test: build
	@ctest --test-dir build --output-on-failure
clean:
	rm -rf build build-*
