# Completion of ralph in fish.
function __ralph_candidates
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l word (string replace -ra '[\\\\"\']' '' -- "$token")
    for line in (ralph complete -- $words[2..] "$word" 2> /dev/null)
        set -l parts (string split -m 1 \t -- $line)
        switch $parts[1]
            case :file :dir
                # An empty command is completed with names of files.
                set -l names (complete -C "'' "(string replace -- "$parts[2]" '' "$token"))
                test $parts[1] = :dir; and set names (string match -- '*/' $names)
                for name in $names
                    printf "%s\n" "$parts[2]$name"
                end
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c ralph -e
complete -c ralph -f -k -a '(__ralph_candidates)'
