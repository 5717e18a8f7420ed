/** Why a request was never sent, or its answer not read: a rule of ours, so trying again changes nothing by itself. */
export type RefusedReason =
  | 'url_invalid'
  | 'scheme'
  | 'port'
  | 'userinfo'
  | 'host_not_allowed'
  | 'own_host'
  | 'address_not_global'
  | 'downgrade'
  | 'too_many_redirects'
  | 'redirect_loop'
  | 'content_type'

/** What went wrong outside. */
export type FailedReason =
  | 'dns'
  | 'no_address'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'aborted'
  | 'protocol'
  | 'too_large'
  | 'ratio'
  | 'encoding'

export type OutboundOk = {
  status: 'ok'
  /** Any status but a followed redirect: 404 and 500 are answers too. */
  httpStatus: number
  /** Lower-cased names; repeated fields are joined by a comma, and Set-Cookie is left out. */
  headers: ReadonlyMap<string, string>
  /** Decoded. */
  bytes: Uint8Array
  /** True when `onTooLarge` is `cut` and the body went on. */
  cut: boolean
  /** After redirects, without fragment. */
  url: string
  /** Every URL asked before `url`. */
  redirectedFrom: readonly string[]
  /** The address the answer came from. */
  address: string
  secure: boolean
}

export type OutboundOutcome =
  | OutboundOk
  | { status: 'refused'; reason: RefusedReason; detail: string; url: string }
  | { status: 'failed'; reason: FailedReason; detail: string; url: string; retryable: boolean }

export type OutboundRequest = {
  method?: 'GET' | 'HEAD' | 'POST'
  /** Of a POST, which is never sent a second time over a new connection: give it with `redirectsMax: 0`. */
  body?: string
  /** Cookie, Authorization and hop-by-hop fields are refused by throwing: nothing of ours may travel. */
  headers?: Readonly<Record<string, string>>
  /** Decoded bytes. */
  maxBytes: number
  /** What to do at the cap: fail with `too_large` (default), or give the first `maxBytes` bytes. */
  onTooLarge?: 'fail' | 'cut'
  /** From the first DNS question to the last byte, redirects included. */
  totalMs: number
  /** Media types without parameters, `text/*` allowed; another one is refused before its body is read. */
  accept?: readonly string[]
  redirectsMax: number
  /** Also http:// on port 80. An https answer still never leads to http. */
  plainHttp?: boolean
  signal?: AbortSignal
}

/** The only way out of the node to addresses that users give. Never throws for what the outside does. */
export type Outbound = { fetch(url: string, request: OutboundRequest): Promise<OutboundOutcome> }

/** Where an address leads once it is vetted and resolved, for those who speak more than one request over a connection. */
export type Located = { status: 'ok'; address: string; port: number } | Exclude<OutboundOutcome, OutboundOk>
export type Locate = (url: string, signal: AbortSignal) => Promise<Located>
