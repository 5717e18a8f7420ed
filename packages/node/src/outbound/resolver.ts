/** Could not be asked, or the answer makes no sense: says nothing about the name. */
export type LookupFailure = { status: 'failed'; detail: string }

export type AddressAnswer = { status: 'ok'; addresses: readonly string[] } | LookupFailure

export type RecordAnswer = {
  status: 'ok'
  records: readonly string[]
  /** The resolver says it validated the answer with DNSSEC (AD bit). */
  authenticated: boolean
  ttlSeconds: number
}

/** One recursive resolver. Names are A-labels without trailing dot; a name without such records is `ok` and empty. */
export type Resolver = {
  /** Whose answer it is, for evidence: an operator's address or name. */
  name: string
  addresses(host: string, signal: AbortSignal): Promise<AddressAnswer>
  txt(name: string, signal: AbortSignal): Promise<RecordAnswer | LookupFailure>
  caa(name: string, signal: AbortSignal): Promise<RecordAnswer | LookupFailure>
  srv(name: string, signal: AbortSignal): Promise<RecordAnswer | LookupFailure>
}

/** The first resolver that answers; an empty answer is an answer. */
export async function lookupAddresses(
  resolvers: readonly Resolver[],
  host: string,
  signal: AbortSignal,
): Promise<AddressAnswer> {
  let last: AddressAnswer = { status: 'failed', detail: 'no resolver is configured' }
  for (const resolver of resolvers) {
    last = await resolver.addresses(host, signal)
    if (last.status === 'ok') return last
  }
  return last
}
