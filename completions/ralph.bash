# Completion of ralph in bash, 3.2 and later.
_ralph() {
  local line=${COMP_LINE:0:COMP_POINT} words=() n=0 front='' quote=yes i piece word found note value
  line=${line#*"${COMP_WORDS[0]}"}
  # Bash splits at = and : as well: pieces that touch are one word, of which it replaces the last piece.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    [[ -z $line || $line == [[:space:]]* ]] && n=$((n + 1))
    line=${line#"${line%%[![:space:]]*}"}
    piece=${COMP_WORDS[i]}
    [[ $i -eq $COMP_CWORD ]] && piece=$line front=${words[n]}
    words[n]+=$piece
    line=${line#"$piece"}
  done
  [[ $piece == [=:]* ]] && front=${words[n]}
  [[ ${words[n]} == [\"\']* ]] && quote=no
  word=${words[n]#[\"\']} word=${word//\\/}
  words[n]=$word
  COMPREPLY=()
  found=$(ralph complete -- "${words[@]}" 2> /dev/null)
  note=${found#*$'\t'}
  type compopt > /dev/null 2>&1 && compopt -o nosort 2> /dev/null
  case $found in
    :file* | :dir*)
      type compopt > /dev/null 2>&1 && compopt -o filenames && quote=no
      [[ $found == :dir* ]] && i=-d || i=-f
      found=$(compgen $i -P "$note" -- "${word#"$note"}")
      ;;
    *) found=$(cut -f 1 <<< "$found") ;;
  esac
  while IFS= read -r value; do
    value=${value#"$front"}
    [[ $quote == yes ]] && printf -v value %q "$value"
    [[ -n $value ]] && COMPREPLY+=("$value")
  done <<< "$found"
}
complete -F _ralph ralph
