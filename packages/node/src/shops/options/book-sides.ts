import type { Micro } from '@assay/protocol/money'
import { optionAccounts } from './accounts.ts'

/** The two sides of a book, and all that differs between them. `lockedMicro` is what one open contract has paid in. */
export const sides = {
  offer: {
    table: 'option_order',
    owner: 'writer',
    account: optionAccounts.collateral,
    kind: 'option_write',
    event: 'offered',
    lockedMicro: (capMicro: Micro, priceMicro: Micro) => capMicro - priceMicro,
  },
  order: {
    table: 'option_bid',
    owner: 'bidder',
    account: optionAccounts.orders,
    kind: 'option_order',
    event: 'bid',
    lockedMicro: (_capMicro: Micro, priceMicro: Micro) => priceMicro,
  },
} as const

export type Side = keyof typeof sides

export const sideOf = (id: string): Side => (id.startsWith('ord_') ? 'order' : 'offer')

/** SQL: `o` can be traded. Anything from before a restore may have been withdrawn and paid out after the backup. */
export const isTradable = `o.state = 'live' and o.open_quantity > 0
  and not exists (select from restore_gap g where g.noticed_at >= o.created_at)`
