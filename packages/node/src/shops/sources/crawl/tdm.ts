import { parseJson } from '@assay/protocol/json-object'

/** A part of a site, by path pattern, and whether its mining is reserved. */
export type TdmRule = { location: string; reserved: boolean }

const rulesMax = 100

/** The file of the TDM Reservation Protocol (W3C community group): a list of locations. Undefined for anything else. */
export function parseTdmRep(text: string): TdmRule[] | undefined {
  const listed = parseJson(text)
  if (!Array.isArray(listed)) return undefined
  return listed.slice(0, rulesMax).flatMap((one: unknown) => {
    const { location, ...rest } = (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>
    const reserved = isReserved(rest['tdm-reservation'])
    return typeof location === 'string' && reserved !== undefined
      ? [{ location: location.slice(0, 2_048), reserved }]
      : []
  })
}

/** `1` reserves, `0` does not; anything else says nothing. */
export function isReserved(value: unknown): boolean | undefined {
  const text = String(value).trim()
  return text === '1' ? true : text === '0' ? false : undefined
}
