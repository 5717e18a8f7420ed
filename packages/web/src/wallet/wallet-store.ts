import { createStore } from '../app/store.ts'
import type { NodeIndex } from '../node/node-index.ts'

export type Eip1193 = { request(call: { method: string; params?: unknown }): Promise<unknown> }

/** Who pays and signs. A demo wallet belongs to the demo node; an outside wallet is one the browser brings. */
export type Wallet =
  | { kind: 'demo'; role: string; address: string }
  | { kind: 'outside'; name: string; address: string; provider: Eip1193 }

export const wallet = createStore<Wallet | undefined>(undefined)

const roleKey = 'assay.demo-role'

/** In demo mode the buyer's wallet is at hand from the start; elsewhere nothing is connected unasked. */
export function openWallet(index: NodeIndex): void {
  const accounts = index.demo?.accounts ?? []
  const role = sessionStorage.getItem(roleKey) ?? 'buyer'
  const account = accounts.find((known) => known.role === role) ?? accounts[0]
  wallet.set(account === undefined ? undefined : { kind: 'demo', role: account.role, address: account.address })
}

export function chooseDemoWallet(index: NodeIndex, role: string): void {
  sessionStorage.setItem(roleKey, role)
  openWallet(index)
}

export const walletName = (chosen: Wallet): string => (chosen.kind === 'demo' ? `Demo ${chosen.role}` : chosen.name)
