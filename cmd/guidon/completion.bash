# What follows uses these functions, which the package bash-completion has as well.
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    # Sets cur, prev, words and cword of its caller, for a command line in which "=" and ":"
    # do not separate words.
    _get_comp_words_by_ref()
    {
        local i joined="" last=0
        words=()
        cword=0
        for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
            local word=${COMP_WORDS[i]} space=" "
            if ((i > 0)); then
                # A word that begins where the previous one ended belongs to it.
                joined=${COMP_LINE:0:last}
                [[ ${COMP_LINE:last:1} == [[:space:]] ]] || space=""
            fi
            local rest=${COMP_LINE:last}
            local before=${rest%%"$word"*}
            last=$((last + ${#before} + ${#word}))
            if ((i > 1)) && [[ -z $space && ( $word == [:=]* || ${words[-1]} == *[:=] ) ]]; then
                words[-1]+=$word
            else
                words+=("$word")
            fi
            ((i == COMP_CWORD)) && cword=$((${#words[@]} - 1))
        done
        cur=${words[cword]}
        prev=""
        ((cword > 0)) && prev=${words[cword - 1]}
        return 0
    }
fi
if ! declare -F __ltrim_colon_completions >/dev/null; then
    # Removes what precedes the last colon of the word from the offers, because bash
    # replaces only what follows it.
    __ltrim_colon_completions()
    {
        [[ $1 == *:* && $COMP_WORDBREAKS == *:* ]] || return 0
        local i before=${1%"${1##*:}"}
        for i in "${!COMPREPLY[@]}"; do
            COMPREPLY[i]=${COMPREPLY[i]#"$before"}
        done
    }
fi
if ! declare -F _filedir >/dev/null; then
    # Offers files, or only folders with -d, or files with the extension.
    _filedir()
    {
        compopt -o filenames 2>/dev/null
        if [[ $1 == -d ]]; then
            mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            local i
            for i in "${!COMPREPLY[@]}"; do
                [[ -z $1 || -d ${COMPREPLY[i]} || ${COMPREPLY[i]} == *.@($1) ]] || unset "COMPREPLY[i]"
            done
        fi
    }
fi
