/** `ref` and `aff` say who brought the buyer; they are no part of what is bought. */
const attribution = new Set(['ref', 'aff'])

/** Whether two addresses name one thing to buy, whatever the order of the query. */
export function isSameResource(requestUrl: string, resourceUrl: string): boolean {
  const asked = new URL(requestUrl)
  const quoted = new URL(resourceUrl)
  return asked.origin === quoted.origin && asked.pathname === quoted.pathname && queryOf(asked) === queryOf(quoted)
}

function queryOf(url: URL): string {
  const pairs = [...url.searchParams].filter(([name]) => !attribution.has(name)).map(([k, v]) => JSON.stringify([k, v]))
  return pairs.sort().join('&')
}
