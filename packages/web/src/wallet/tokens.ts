import { createStore } from '../app/store.ts'

/** Tokens of subscriptions bought here, by wallet; kept until the tab is closed, because anyone who has one can use it. */
const key = 'assay.tokens'

export const subscriptionTokens = createStore<Readonly<Record<string, string>>>(read())

function read(): Record<string, string> {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(key) ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {}
  } catch {
    return {}
  }
}

/** The matrix and the intent stream are subscribed to apart. */
export type Subscribed = 'matrix' | 'stream'

const nameOf = (wallet: string, to: Subscribed) => `${to} ${wallet.toLowerCase()}`

export function keepToken(wallet: string, to: Subscribed, token: string): void {
  subscriptionTokens.set({ ...subscriptionTokens.get(), [nameOf(wallet, to)]: token })
  sessionStorage.setItem(key, JSON.stringify(subscriptionTokens.get()))
}

export function tokenOf(wallet: string | undefined, to: Subscribed): string | undefined {
  return wallet === undefined ? undefined : subscriptionTokens.get()[nameOf(wallet, to)]
}

/** The header that opens the feeds of the matrix; nothing where there is no token. */
export function bearerOf(wallet: string | undefined): Record<string, string> {
  const token = tokenOf(wallet, 'matrix')
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}
