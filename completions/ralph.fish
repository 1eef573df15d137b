# Completion of ralph in fish.
function __ralph_candidates
    set -l words (commandline -opc)
    set -l word (commandline -ct | string replace -ra '[\\\\"\']' '')
    for line in (ralph complete -- $words[2..] "$word" 2> /dev/null)
        set -l parts (string split -m 1 \t -- $line)
        set -l name (string replace -- "$parts[2]" '' "$word")
        switch $parts[1]
            case :file
                printf "$parts[2]%s\n" (__fish_complete_path $name)
            case :dir
                printf "$parts[2]%s\n" (__fish_complete_directories $name '')
            case '*'
                echo $line
        end
    end
end

complete -c ralph -e
complete -c ralph -f -k -a '(__ralph_candidates)'
