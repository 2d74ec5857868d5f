package page

import (
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxKeys is the maximum number of flags in one request.
const maxKeys = 100

// SignsOf returns the signs of the flags as they are in the namespace, which may be a
// reference to a state. Flags that do not exist there have none.
func SignsOf(v *Visit, namespace string, keys []string) (map[string]*part.Sign, error) {
	signs := make(map[string]*part.Sign)
	slices.Sort(keys)
	for some := range slices.Chunk(slices.Compact(keys), maxKeys) {
		list, err := ListFlagSummaries.Run(v, &guidonv1.ListFlagSummariesRequest{NamespaceKey: namespace, Keys: some, Limit: maxKeys})
		if guidon.CodeOf(err) == guidon.NotFound { // the namespace does not exist yet
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, f := range list.GetFlags() {
			signs[f.GetKey()] = &part.Sign{Variant: f.GetType() == flipt.FlagType_VARIANT_FLAG_TYPE, State: StateOf(f.GetState()), Name: f.GetName()}
		}
	}
	return signs, nil
}
