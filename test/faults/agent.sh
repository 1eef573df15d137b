#!/bin/bash
# A fake agent that speaks Claude Code's stream. What it does is in `work.sh` of its home; it does the same
# again when it is asked the same again. Once its loop is dead, it stays until somebody ends it.
trap '' PIPE
prompt=$(cat)
case "$*" in *"--output-format text"*) echo "a message"; exit 0 ;; esac
echo x >> "$HOME/calls"
[[ $prompt =~ Iteration\ ([0-9]+) ]] && iteration=${BASH_REMATCH[1]}
say() { printf '%s\n' "$1" 2> /dev/null; }
say '{"type":"system","subtype":"init","session_id":"s"}'
# What it says is written down every 100 ms, so that ralph can be killed while it works.
sleep 0.12
text=worked
. "$HOME/work.sh"
say '{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"'"$text"'"}]}}'
say '{"type":"result","subtype":"success","is_error":false,"result":"'"$text"'","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":5}}'
kill -0 "$PPID" 2> /dev/null || exec sleep 300
