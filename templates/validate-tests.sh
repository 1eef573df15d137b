#!/bin/sh
# Are the tests sound, and do they match the success criteria of the PRP?
# The gate of CHECK_TESTS: ./validate-tests.sh tests/
# Exit 0: they are. Anything else fails the gate, and what is printed here goes to the agent.
set -eu

tests=${1:-tests/}
# A pipeline says which PRP; by hand the latest one is taken.
prp=${RALPH_PRP_FILE:-$(ls -t PRPs/*.prp.md 2>/dev/null | head -n 1)}

if [ -z "$prp" ] || [ ! -f "$prp" ]; then
  echo "❌ no PRP: PRPs/NAME.prp.md is missing"
  exit 1
fi

# Every SC-n is in a test, every test file parses, every test asserts something, and the suite fails
# as long as nothing is implemented.
ralph gate check-tests "$prp" --tests "$tests"

# Add the rules of this project here, such as:
# if grep -rn "sleep(" "$tests"; then
#   echo "❌ tests must not sleep"
#   exit 1
# fi

echo "✅ All tests valid and match PRP criteria"
