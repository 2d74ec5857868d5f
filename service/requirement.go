package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
)

// Limits of requirements.
const (
	MaxRequirements   = 10 // of a flag, or of a rule
	maxAnswers        = 50 // of a requirement
	maxRequiredDepth  = 5
	maxRequiredAsking = 50 // evaluations of other flags for one answer
)

// checkRequirements checks requirements by themselves, and returns them in their stored form.
func checkRequirements(stated []guidon.Requirement) ([]guidon.Requirement, error) {
	if len(stated) > MaxRequirements {
		return nil, invalidField("requires", fmt.Sprintf("must not contain more than %d flags", MaxRequirements))
	}
	all := guidon.CloneRequirements(stated)
	for i := range all {
		r, at := &all[i], fmt.Sprintf("requires[%d].", i)
		switch {
		case r.FlagKey == "":
			return nil, emptyField(at + "flag")
		case len(r.Answers) > maxAnswers:
			return nil, invalidField(at+"is", fmt.Sprintf("must not contain more than %d answers", maxAnswers))
		case slices.Contains(r.Answers, ""):
			return nil, invalidField(at+"is", "must not contain an empty text")
		case slices.Equal(r.Answers, []string{"true"}):
			r.Answers = nil
		}
	}
	return all, nil
}

// linkTx notes which flags a transaction changes, so that it can check at the end that all
// requirements refer to something. That is complete, because the writes of a namespace run one at a
// time.
type linkTx struct {
	Tx
	namespace string
	stored    map[string]*guidon.Flag // as they were read before the first change; of few fields
	changed   map[string]*guidon.Flag // as they are then; nil for deleted ones
}

func newLinkTx(tx Tx, namespace string) *linkTx {
	return &linkTx{Tx: tx, namespace: namespace, stored: map[string]*guidon.Flag{}, changed: map[string]*guidon.Flag{}}
}

// Flag implements [Tx].
func (tx *linkTx) Flag(ctx context.Context, key string) (*guidon.Flag, error) {
	f, err := tx.Tx.Flag(ctx, key)
	if err == nil && tx.stored[key] == nil {
		tx.stored[key] = answering(f)
	}
	return f, err
}

// PutFlag implements [Tx].
func (tx *linkTx) PutFlag(ctx context.Context, f *guidon.Flag) error {
	if err := tx.Tx.PutFlag(ctx, f); err != nil {
		return err
	}
	tx.changed[f.Key] = answering(f)
	return nil
}

// DeleteFlag implements [Tx].
func (tx *linkTx) DeleteFlag(ctx context.Context, key string) error {
	if tx.changed[key] = nil; tx.stored[key] == nil {
		tx.stored[key] = &guidon.Flag{Key: key} // it need not be read
	}
	return tx.Tx.DeleteFlag(ctx, key)
}

// DeleteNamespace implements [Tx].
func (tx *linkTx) DeleteNamespace(ctx context.Context) error {
	clear(tx.changed)
	return tx.Tx.DeleteNamespace(ctx)
}

// answering returns a flag with the keys of the variants, and the requirements.
func answering(f *guidon.Flag) *guidon.Flag {
	known := &guidon.Flag{Key: f.Key, Type: f.Type, Requires: slices.Collect(f.Requirements())}
	for _, v := range f.Variants {
		known.Variants = append(known.Variants, &guidon.Variant{Key: v.Key})
	}
	return known
}

// check returns InvalidArgument if a change leaves a requirement that refers to nothing, or that is
// in a cycle or too deep.
func (tx *linkTx) check(ctx context.Context) error {
	if !tx.mayBreak() {
		return nil
	}
	linked, err := tx.LinkedFlags(ctx)
	if err != nil {
		return err
	}
	for _, f := range linked {
		if err := tx.checkFlag(ctx, answering(f), []string{f.Key}, new(int)); err != nil {
			return err
		}
	}
	return nil
}

// mayBreak reports whether a changed flag requires others, or answers no longer all that it did.
func (tx *linkTx) mayBreak() bool {
	for key, f := range tx.changed {
		switch was := tx.stored[key]; {
		case f == nil, len(f.Requires) > 0:
			return true
		case was == nil:
		case was.Type != f.Type, slices.ContainsFunc(was.Variants, func(v *guidon.Variant) bool { return f.VariantByKey(v.Key) == nil }):
			return true
		}
	}
	return false
}

// checkFlag checks the requirements of the last flag of the path, and those below. asked counts the
// evaluations for an answer of the first one.
func (tx *linkTx) checkFlag(ctx context.Context, f *guidon.Flag, path []string, asked *int) error {
	for i := range f.Requires {
		r := &f.Requires[i]
		required, err := tx.answering(ctx, r.FlagKey)
		if err == nil {
			err = tx.checkAnswers(f.Key, required, r)
		}
		if err != nil {
			return err
		}
		at := slices.Concat(path, []string{r.FlagKey})
		*asked++
		switch {
		case slices.Contains(path, r.FlagKey):
			return guidon.Errorf(guidon.InvalidArgument, "flag %q requires itself: %s", r.FlagKey, strings.Join(at[slices.Index(at, r.FlagKey):], " → "))
		case len(at) > maxRequiredDepth+1 || *asked > maxRequiredAsking:
			return guidon.Errorf(guidon.InvalidArgument, "flag %q requires too many flags (depth %d, %d evaluations)",
				path[0], maxRequiredDepth, maxRequiredAsking)
		}
		if err := tx.checkFlag(ctx, required, at, asked); err != nil {
			return err
		}
	}
	return nil
}

// answering returns what is known of a required flag, or nil if it does not exist.
func (tx *linkTx) answering(ctx context.Context, key string) (*guidon.Flag, error) {
	if f, changed := tx.changed[key]; changed {
		return f, nil
	}
	f, err := tx.Flag(ctx, key)
	switch {
	case errors.Is(err, guidon.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return answering(f), nil
}

// checkAnswers returns an error if the required flag, which is nil if it does not exist, cannot answer
// as a requirement of the flag with the key says.
func (tx *linkTx) checkAnswers(key string, required *guidon.Flag, r *guidon.Requirement) error {
	was := tx.stored[r.FlagKey]
	switch {
	case required == nil && was != nil:
		return guidon.Errorf(guidon.InvalidArgument, "flag %q is required by flag %q", tx.namespace+"/"+r.FlagKey, key)
	case required == nil:
		return guidon.Errorf(guidon.InvalidArgument, "flag %q not found", tx.namespace+"/"+r.FlagKey)
	}
	for _, answer := range r.Stated() {
		switch {
		case required.Type == guidon.BooleanFlag && (answer == "true" || answer == "false"):
		case required.Type == guidon.VariantFlag && required.VariantByKey(answer) != nil:
		case was != nil && was.VariantByKey(answer) != nil:
			return guidon.Errorf(guidon.InvalidArgument, "variant %q is required by flag %q", answer, key)
		default:
			return guidon.Errorf(guidon.InvalidArgument, "flag %q has no variant %q", r.FlagKey, answer)
		}
	}
	return nil
}
