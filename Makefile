# Every command sets itself up in .venv. Without make: python src/voicewire/make.py book
PYTHON ?= python3

.PHONY: book test scorecard lab lock clean setup

book test scorecard lab lock clean setup:
	@$(PYTHON) src/voicewire/make.py $@
