# Completion of ralph in bash, 3.2 and later.
_ralph() {
  local line=${COMP_LINE:0:COMP_POINT} words=() n=0 piece='' front='' quote=no i found before value
  line=${line#*"${COMP_WORDS[0]}"}
  # Bash splits at = and : as well: pieces that touch are one word, of which it replaces the last piece.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    [[ -z $line || $line == [[:space:]]* ]] && n=$((n + 1))
    line=${line#"${line%%[![:space:]]*}"} piece=${COMP_WORDS[i]}
    [[ $i -eq $COMP_CWORD ]] && front=${words[n]-} piece=$line
    words[n]=${words[n]-}$piece line=${line#"$piece"}
  done
  [[ $piece == [=:]* ]] && front+=$piece piece=''
  [[ $piece == [\"\']* ]] && quote=${piece:0:1} piece=${piece:1}
  words[n]=$front${piece//\\/}

  COMPREPLY=()
  found=$(ralph complete -- "${words[@]}" 2> /dev/null)
  before=${found#*$'\t'}
  case $found in
    :file*) found=$(compgen -f -P "$before" -- "${words[n]#"$before"}") piece=name ;;
    :dir*) found=$(compgen -d -P "$before" -- "${words[n]#"$before"}") piece=name ;;
    *) found=$(cut -f 1 <<< "$found") piece=word ;;
  esac
  # Where bash sees nothing but the name of a file, it writes it itself. Bash 3 has no compopt.
  case $piece-$(type -t compopt) in
    name-builtin) [[ $before == "$front" ]] && compopt -o filenames && quote=done ;;
    word-builtin) compopt -o nosort 2> /dev/null ;;
  esac
  while IFS= read -r value; do
    value=${value#"$front"}
    case $quote in
      \") value=$(sed 's/[\\$"`]/\\&/g' <<< "$value") ;;
      \') value=$(sed "s/'/'\\\\''/g" <<< "$value") ;;
      no) [[ -n $value ]] && printf -v value %q "$value" && value=${value/#\\~\//\~/} ;;
    esac
    [[ -n $value ]] && COMPREPLY+=("$value")
  done <<< "$found"
}

complete -F _ralph ralph
