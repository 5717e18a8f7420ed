/** Parameters that say where a visitor came from, never which page is meant. */
const trackingNames = new Set(
  `_ga _gl _hsenc _hsmi dclid fbclid gad_source gbraid gclid gclsrc igsh igshid li_fat_id mc_cid mc_eid mkt_tok msclkid
  oly_anon_id oly_enc_id srsltid ttclid twclid vero_id wbraid yclid`.split(/\s+/),
)

/** One spelling for each page: no fragment, trailing dot, empty query or tracking parameter, escapes in upper case. */
export function pageAddress(address: string | URL): string {
  const url = new URL(address)
  url.hash = ''
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  // By hand: URLSearchParams would spell the other parameters differently.
  const query = url.search.slice(1).split('&')
  const kept = query.filter((parameter) => !isTracking(parameter)).join('&')
  url.search = kept === '' ? '' : `?${kept}`
  return url.href.replace(/%[0-9a-f]{2}/gi, (escaped) => escaped.toUpperCase())
}

function isTracking(parameter: string): boolean {
  const [written = ''] = parameter.split('=', 1)
  const name = decoded(written).toLowerCase()
  return name.startsWith('utm_') || trackingNames.has(name)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
