package page

import "github.com/guidonhq/guidon/handler/wire/guidonv1"

// NewestChanges returns the newest changes of the flags or segments with the keys, without summaries. It
// returns none while the database does not answer: pages do without them.
func NewestChanges(v *Visit, kind string, keys ...string) (map[string]*guidonv1.Change, error) {
	if len(keys) == 0 || v.Away() {
		return nil, nil
	}
	latest, err := LatestChanges.Run(v, &guidonv1.LatestChangesRequest{NamespaceKey: v.Key(), Kind: kind, Keys: keys, WithoutSummaries: true})
	newest := make(map[string]*guidonv1.Change, len(keys))
	for _, c := range latest.GetChanges() {
		newest[c.GetKey()] = c
	}
	return newest, err
}

// Deletion returns the newest change of the object if that deleted it, or nil.
func Deletion(v *Visit, kind, key string) (*guidonv1.Change, error) {
	list, err := ListChanges.Run(v, &guidonv1.ListChangesRequest{NamespaceKey: v.Key(), Kind: kind, Key: key, Limit: 1, MaxObjectBytes: 1})
	if err != nil || len(list.GetChanges()) == 0 || list.GetChanges()[0].GetAction() != "delete" {
		return nil, err
	}
	return list.GetChanges()[0], nil
}
