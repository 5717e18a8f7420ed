import type { NodeIndex } from '../node/node-index.ts'
import { clientFor } from '../wallet/sign-and-pay.ts'
import type { Wallet } from '../wallet/wallet-store.ts'

/** Pays for one request of the reference and gives the answer with what the purchase says about itself. */
export async function buyTried(
  index: NodeIndex,
  wallet: Wallet,
  request: Request,
  agree: (priceUsd: string) => boolean,
): Promise<Response> {
  const init = { method: request.method, headers: request.headers, ...(await bodyOf(request)) }
  const priced = await (await clientFor(index, wallet, '0.000001')).quote(request.url, init)
  if (priced.status === 'answered') return priced.result.response
  const { quote } = priced
  if (!agree(quote.priceUsd)) throw new Error('Not paid.')
  const client = await clientFor(index, wallet, quote.priceUsd)
  return (await client.fetch(request.url, init, { agreed: quote })).response
}

const bodyOf = async (request: Request) =>
  request.method === 'GET' || request.method === 'HEAD' ? {} : { body: await request.text() }
