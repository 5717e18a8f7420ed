import { cdp as cdpKind } from './facilitators/cdp/index.ts'
import { http as httpKind } from './facilitators/http/index.ts'
import { local as localKind } from './facilitators/local/index.ts'

/** Coinbase's facilitator, with the id and secret of an API key. */
export const cdp = cdpKind.choose

/** Any x402 facilitator by its address. */
export const http = httpKind.choose

/** This process itself settles, with wallets that hold gas. */
export const local = localKind.choose
