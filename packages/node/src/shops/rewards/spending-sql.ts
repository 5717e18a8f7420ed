/** From the first sale on, whether or not its payment is final; what was given back is taken off. */
export const spending = {
  microSql: (wallet: string) => `(select l.spent_micro from loyalty l where l.wallet = ${wallet})`,
}
