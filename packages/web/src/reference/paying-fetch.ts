import type { NodeIndex } from '../node/node-index.ts'
import type { Wallet } from '../wallet/wallet-store.ts'

/**
 * Sends what a reader tries. A 402 is paid from the wallet that was chosen above, after the price was confirmed, and is
 * shown as it is where none was chosen.
 */
export function createPayingFetch(index: NodeIndex, place: HTMLElement): typeof fetch {
  const choose = walletChoice(index, place)
  return async (input, init) => {
    const asked = await fetch(input, init)
    const role = choose.value
    if (asked.status !== 402 || role === '') return asked
    // Loaded with the first purchase: reading needs none of it.
    const { buyTried } = await import('./buy-tried.ts')
    return buyTried(index, await walletFor(index, role), new Request(input, init), (priceUsd) =>
      role === outside ? confirm(`Pay ${priceUsd} USDC?`) : true,
    )
  }
}

const outside = 'outside'

function walletChoice(index: NodeIndex, place: HTMLElement): HTMLSelectElement {
  const select = document.createElement('select')
  const accounts = index.demo?.accounts ?? []
  const choices = [
    ...accounts.map(({ role }) => [role, `the demo ${role}, test money`] as const),
    ...(index.demo === undefined ? [[outside, 'the wallet of this browser'] as const] : []),
    ['', 'nobody: show the 402'] as const,
  ]
  for (const [value, text] of choices) select.append(new Option(text, value, value === 'buyer', value === 'buyer'))
  if (index.demo === undefined) select.value = ''
  const label = document.createElement('label')
  label.append('Paid answers are paid by ', select)
  place.append(label)
  return select
}

async function walletFor(index: NodeIndex, role: string): Promise<Wallet> {
  const account = index.demo?.accounts.find((known) => known.role === role)
  if (account !== undefined) return { kind: 'demo', role, address: account.address }
  const provider = (window as { ethereum?: { request(call: { method: string }): Promise<unknown> } }).ethereum
  if (provider === undefined) throw new Error('This browser has no wallet.')
  const [address] = (await provider.request({ method: 'eth_requestAccounts' })) as string[]
  if (address === undefined) throw new Error('The wallet gave no account.')
  return { kind: 'outside', name: 'Browser wallet', address, provider }
}
