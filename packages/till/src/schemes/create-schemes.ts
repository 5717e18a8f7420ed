import type { Scheme, Schemes } from '../contract/scheme.ts'

/** The schemes a till takes. Their order is that of `accepts`. */
export function createSchemes(all: readonly Scheme[]): Schemes {
  const byId = new Map(all.map((scheme) => [scheme.id, scheme]))
  if (byId.size < all.length) throw new Error('two payment schemes have the same id')
  return {
    all,
    named: (name, network) => all.filter((scheme) => scheme.name === name && scheme.takes(network)),
    of(claim) {
      const scheme = byId.get(claim.scheme)
      if (!scheme) throw new Error(`payment ${claim.id} is of the scheme ${claim.scheme}, which is not registered`)
      return scheme
    },
  }
}
