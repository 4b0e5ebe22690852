# Short names for what people do here. Meson and ninja build the program, npm builds the dashboard,
# scripts/ does the rest; everything that is made lies in build/.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
PROGRAM := $(BUILD)/sluice
WEB_SOURCES := $(shell find web -type f -not -path '*/node_modules/*' -not -path 'web/dist/*' \
	-not -path web/src/data/types.ts 2>/dev/null)

.DEFAULT_GOAL := all
.PHONY: all program web run test test-frameworks fuzz bench screenshots lint format install uninstall soak setup clean distclean help

all: web program

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

setup: ## install what building and running need (apt, npm)
	@scripts/setup build web run docs

# The dashboard is built again only when one of its sources is newer than the last build.
web: $(if $(WEB_SOURCES),$(BUILD)/.web)

$(BUILD)/.web: $(WEB_SOURCES) src/http/schemas.json
	@scripts/setup --check web
	@mkdir -p $(BUILD)
	cd web && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build
	@touch $@

# --check names what is missing before meson stumbles over it.
$(BUILD)/build.ninja:
	@scripts/setup --check build
	meson setup $(BUILD) -Dbuildtype=release -Dwerror=true

program: $(BUILD)/build.ninja
	ninja -C $(BUILD) sluice
	@scripts/size $(PROGRAM)

run: ## install what is missing, build, start with an example experiment, serve until Ctrl-C
	@scripts/setup build web run
	@$(MAKE) --no-print-directory all
	@scripts/run $(PROGRAM)

test: ## everything; ends in "N passed, N failed, N skipped"
	@scripts/test

test-frameworks: all ## metrics of real Keras, PyTorch, Lightning, XGBoost and others (7 GB, minutes)
	@scripts/setup test frameworks
	SLUICE_FRAMEWORKS=1 $(BUILD)/venv/bin/python -m pytest -q tests/py/test_frameworks.py

fuzz: ## random inputs for every parser, a minute each (FUZZ_S=60); findings are kept below build/
	@FUZZ_S=$${FUZZ_S:-60} scripts/test fuzz

screenshots: all ## the pictures of README and docs/tour.md, taken from the real pages (docs/images)
	@scripts/setup test
	cd web && SLUICE_BIN=$(CURDIR)/$(PROGRAM) node --test ../tests/web/real_pictures.test.mjs
	cp $(BUILD)/pictures/*.png docs/images/

lint: ## include direction, banned functions, scripts, formatting
	@scripts/lint

format: ## lay out the C files as .clang-format says, the web code as biome.jsonc says
	git ls-files '*.c' '*.h' | xargs clang-format -i
	[ ! -x web/node_modules/.bin/biome ] || web/node_modules/.bin/biome check --write

bench: all ## speed and memory beside other programs, in the same run
	@scripts/setup bench
	@bench/run

soak: all ## random kills and random load for an hour (SOAK_S=3600)
	@scripts/setup test
	@scripts/soak

install: all ## PREFIX=/usr/local, DESTDIR=
	install -D -s -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/sluice
	@scripts/install-docs $(PROGRAM) $(DESTDIR)$(PREFIX)

uninstall: ## removes what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/sluice $(DESTDIR)$(PREFIX)/share/man/man1/sluice.1
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/sluice-*.1 $(DESTDIR)$(PREFIX)/share/man/man5/sluice-*.5
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/sluice
	rm -f $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_sluice
	rm -f $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/sluice.fish

clean: ## what was built, but not the Python environments that take long to install
	find $(BUILD) -mindepth 1 -maxdepth 1 -not -name 'venv*' -exec rm -rf {} +
	rm -rf web/dist

distclean: clean ## the environments and node_modules too
	rm -rf $(BUILD) web/node_modules
