# Every command sets itself up in .venv. Without make: python tools/make.py book
PYTHON ?= python3

.PHONY: book execute outputs test scorecard lab lock clean setup

book execute outputs test scorecard lab lock clean setup:
	@$(PYTHON) tools/make.py $@
