/** What a seller can promise its buyers, and what that needs of the place where it runs. */
export const promises = {
  one_serve: 'One payment is served once, however often and wherever it is sent',
  bound: 'A payment buys the request it was made for and nothing else',
  nothing_for_failure: 'A handler that throws or takes too long charges nothing',
  body_limit: 'A body beyond its limit is not read',
  signed_bytes: 'The answer arrives as it was signed',
  identifier: 'A lost answer is given again to the payment-identifier',
  key_proof: 'A lost answer is given again at its status URL to a request that the paying key signed',
  hang_up: 'A buyer who hangs up before settlement is not charged',
  fresh_payment: 'A lost answer is given again to a fresh payment, which is not charged',
} as const

export type SellerPromise = keyof typeof promises
/** `weaker`: in another form. */
export type Kept = 'holds' | 'weaker' | 'off'
export type AdapterName = 'node' | 'express' | 'fastify' | 'hono' | 'next' | 'mcp'

const everywhere = {
  one_serve: 'holds',
  bound: 'holds',
  nothing_for_failure: 'holds',
  body_limit: 'holds',
  signed_bytes: 'holds',
  identifier: 'holds',
  key_proof: 'holds',
} as const
const withSocket = { ...everywhere, hang_up: 'holds', fresh_payment: 'holds' } as const
const withoutSocket = { ...everywhere, hang_up: 'off', fresh_payment: 'off' } as const

/** Hang-up and delivery are seen where the adapter has the socket; `hono` is meant on @hono/node-server. */
export const adapterPromises: Readonly<Record<AdapterName, Readonly<Record<SellerPromise, Kept>>>> = {
  node: withSocket,
  express: withSocket,
  fastify: withSocket,
  hono: withSocket,
  next: withoutSocket,
  // The signature is a part of the result and covers the answer as HTTP would have carried it.
  // A status URL is served over HTTP only.
  mcp: { ...withoutSocket, signed_bytes: 'weaker', key_proof: 'weaker' },
}
