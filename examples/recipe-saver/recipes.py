"""Keeps the text of recipes."""


def extract(page):
    lines = [line.strip() for line in page.splitlines()]
    titles = [line[2:].strip() for line in lines if line.startswith("# ")]
    if not titles:
        raise ValueError("no title")
    return {"title": titles[0], "ingredients": [line[2:] for line in lines if line.startswith("- ")]}


class Store:
    def __init__(self):
        self.recipes = []

    def save(self, page):
        recipe = extract(page)
        for number, known in enumerate(self.recipes, start=1):
            if known["title"] == recipe["title"]:
                return number
        self.recipes.append(recipe)
        return len(self.recipes)
