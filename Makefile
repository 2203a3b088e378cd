# Every command sets itself up in .venv. Without make: python tools/make.py book
PYTHON ?= python3

.PHONY: book outputs test scorecard lab lock clean setup

book outputs test scorecard lab lock clean setup:
	@$(PYTHON) tools/make.py $@
