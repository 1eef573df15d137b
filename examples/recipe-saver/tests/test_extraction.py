"""The success criteria of PRPs/recipe-saver.prp.md, one test or more for each."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from recipes import Store, extract

PAGE = """# Pancakes
- 2 eggs
- 200 g flour
"""


def test_extraction():
    """SC-1"""
    assert extract(PAGE) == {"title": "Pancakes", "ingredients": ["2 eggs", "200 g flour"]}


def test_duplicate_detection():
    """SC-2"""
    store = Store()
    first = store.save(PAGE)
    assert store.save(PAGE) == first
    assert len(store.recipes) == 1


def test_missing_title():
    """SC-3"""
    with pytest.raises(ValueError, match="no title"):
        extract("- 2 eggs\n")
