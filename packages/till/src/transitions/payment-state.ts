/** The states of a payment. `prepared` has no separate row: the answer is stored with the settling intent. */
export type PaymentState =
  | 'claimed'
  | 'settling'
  | 'unknown'
  | 'settled'
  | 'served'
  | 'failed'
  | 'released'
  | 'credited'
  | 'refunded'

/** Money may still move for these, so they count against the balance of the payer. */
export const openStates: readonly PaymentState[] = ['claimed', 'settling', 'unknown']

/** Ended without money. Until they are final, the authorization is watched, for anyone may still carry it. */
export const unsoldStates: readonly PaymentState[] = ['failed', 'released']

/** A transfer of theirs is posted, which a reorganisation can take away until they are final. */
export const paidStates: readonly PaymentState[] = ['settled', 'served', 'credited']

/** The answer of one of these may have been lost on its way to the buyer. */
export const lostAnswerStates: readonly PaymentState[] = ['settling', 'unknown', 'settled', 'served']

export const isOpen = (state: PaymentState): boolean => openStates.includes(state)
export const isUnsold = (state: PaymentState): boolean => unsoldStates.includes(state)

/** The states as a list for a statement of SQL. */
export const sqlList = (states: readonly PaymentState[]): string => `(${states.map((state) => `'${state}'`).join(',')})`
