package bearer

import "context"

// Check gets the keys, and returns the URLs that this service must be able to reach: none
// if the keys are in a file. With an error they are those that are known.
func (v *Verifier) Check(ctx context.Context) (urls []string, err error) {
	if v.config.JWKSURL != "" {
		urls = append(urls, v.config.JWKSURL)
	}
	if v.document != nil {
		urls = append(urls, v.config.DiscoveryURL)
		d, err := v.document.Document(ctx)
		if err != nil {
			return urls, err
		}
		urls = append(urls, d.JWKSURI)
	}
	_, err = v.keys.Generation(ctx)
	return urls, err
}
