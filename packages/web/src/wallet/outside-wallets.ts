import { ProblemError } from '../node/problem.ts'
import { type Eip1193, wallet } from './wallet-store.ts'

export type OutsideWallet = { id: string; name: string; provider: Eip1193 }

type Announcement = CustomEvent<{ info: { uuid: string; name: string }; provider: Eip1193 }>

/** Wallets of this browser (EIP-6963), and the one older wallets leave in the window. */
export function findOutsideWallets(found: (wallets: OutsideWallet[]) => void): () => void {
  const known = new Map<string, OutsideWallet>()
  const legacy = (window as { ethereum?: Eip1193 }).ethereum
  if (legacy !== undefined) known.set('window', { id: 'window', name: 'Browser wallet', provider: legacy })
  const tell = () => found([...known.values()])
  const heard = (event: Event) => {
    const { info, provider } = (event as Announcement).detail
    known.set(info.uuid, { id: info.uuid, name: info.name, provider })
    if (known.size > 1 && known.get('window')?.provider === provider) known.delete('window')
    tell()
  }
  window.addEventListener('eip6963:announceProvider', heard)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  tell()
  return () => window.removeEventListener('eip6963:announceProvider', heard)
}

export async function connectOutsideWallet({ name, provider }: OutsideWallet): Promise<void> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' })
  const address = Array.isArray(accounts) ? accounts[0] : undefined
  if (typeof address !== 'string') throw new ProblemError({ title: 'The wallet named no account.' })
  wallet.set({ kind: 'outside', name, address, provider })
}
