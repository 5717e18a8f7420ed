/** What a wallet of the operator may do; each includes those before it. `withdraw` is everything, money and keys included. */
export const operatorRoles = ['read', 'operate', 'withdraw'] as const
export type OperatorRole = (typeof operatorRoles)[number]

export const includesRole = (held: OperatorRole, needed: OperatorRole): boolean =>
  operatorRoles.indexOf(held) >= operatorRoles.indexOf(needed)
