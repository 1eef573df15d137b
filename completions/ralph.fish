# Completion of ralph in fish.
function __ralph_candidates
    set -l words (commandline -opc)
    set -l word (commandline -ct | string replace -ra '[\\\\"\']' '')
    for line in (ralph complete -- $words[2..] "$word" 2> /dev/null)
        set -l parts (string split -m 1 \t -- $line)
        switch $parts[1]
            case :file
                set -l names (__fish_complete_path (string sub -s (math 1 + (string length -- "$parts[2]")) -- "$word"))
                printf '%s\n' $parts[2]$names
            case :dir
                ...
            case '*'
                echo -- $line
        end
    end
end
complete -c ralph -e
complete -c ralph -f -k -a '(__ralph_candidates)'
