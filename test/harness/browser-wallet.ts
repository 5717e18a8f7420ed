import { request } from 'node:http'
import type { BrowserContext, Page } from 'playwright-core'
import type { TypedDataDefinition } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

export type BrowserWallet = {
  /** Every method the page asked for, in order. */
  asked: string[]
  /** Everything that was signed, as the page sent it. */
  signed: TypedDataDefinition[]
  /** The owner says no from now on, or yes again. */
  refuse(refusing: boolean): void
}

/** A wallet as browsers have them (EIP-1193, announced by EIP-6963), with a real key that never enters the page. */
export async function injectWallet(page: Page, account: PrivateKeyAccount, chainId = 1): Promise<BrowserWallet> {
  const wallet: BrowserWallet = { asked: [], signed: [], refuse: (refusing) => (refused = refusing) }
  let refused = false
  let chain = `0x${chainId.toString(16)}`
  const answer = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    wallet.asked.push(method)
    if (method === 'eth_chainId') return chain
    if (method === 'wallet_switchEthereumChain') {
      chain = (params[0] as { chainId: string }).chainId
      return null
    }
    if (refused) throw { code: 4001, message: 'User rejected the request.' }
    if (method === 'eth_requestAccounts') return [account.address]
    if (method === 'personal_sign') return account.signMessage({ message: { raw: params[0] as `0x${string}` } })
    if (method !== 'eth_signTypedData_v4') throw { code: 4200, message: `${method} is not supported` }
    const { types, ...typed } = JSON.parse(String(params[1])) as TypedDataDefinition
    const { EIP712Domain, ...own } = types as Record<string, readonly unknown[]>
    // As wallets do: typed data for another chain than the chosen one are refused.
    const { chainId: named } = typed.domain as { chainId?: number | string }
    if (EIP712Domain === undefined || (named !== undefined && Number(named) !== Number(chain)))
      throw { code: -32602, message: 'wrong typed data' }
    const whole = { ...typed, types: own } as TypedDataDefinition
    wallet.signed.push(whole)
    return account.signTypedData(whole)
  }
  await page.exposeFunction('walletAnswer', async (text: string) => {
    const { method, params } = JSON.parse(text) as { method: string; params?: unknown[] }
    return answer(method, params ?? []).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    )
  })
  await page.addInitScript({ content: provider })
  return wallet
}

const provider = `
  const ethereum = {
    request: async (call) => {
      const { result, error } = await walletAnswer(JSON.stringify(call))
      if (error) throw Object.assign(new Error(error.message), error)
      return result
    },
  }
  globalThis.ethereum = ethereum
  const info = { uuid: '7a5c0de0-0000-4000-8000-000000000001', name: 'Test wallet', icon: '', rdns: 'test.wallet' }
  const announce = () =>
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider: ethereum }) }))
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
`

/** Stands for the TLS proxy in front of a production node: what the browser asks of `origin` is answered by `address`. */
export async function serveAt(context: BrowserContext, origin: string, address: string): Promise<void> {
  await context.route(`${origin}/**`, async (route) => {
    const asked = route.request()
    const { pathname, search } = new URL(asked.url())
    const { 'accept-encoding': _, ...headers } = await asked.allHeaders()
    const answer = await new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>(
      (resolve, reject) => {
        const sent = request(
          `${address}${pathname}${search}`,
          { method: asked.method(), headers: { ...plainHeaders(headers), host: new URL(origin).host } },
          (response) => {
            const chunks: Buffer[] = []
            response.on('data', (chunk: Buffer) => chunks.push(chunk))
            response.on('end', () =>
              resolve({
                status: response.statusCode ?? 502,
                headers: Object.fromEntries(
                  Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
                ),
                body: Buffer.concat(chunks),
              }),
            )
          },
        )
        sent.on('error', reject)
        sent.end(asked.postDataBuffer() ?? undefined)
      },
    )
    await route.fulfill(answer)
  })
}

/** HTTP/2 names of the browser are none of HTTP/1.1. */
const plainHeaders = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')))
