/** Named by the request or remembered from an earlier one: the row of the sale has both. */
export const referrers = {
  walletsSql: (id: string) =>
    `coalesce((select array[s.affiliate, s.referrer] from reward_sale s where s.payment_id = ${id} order by s.round desc limit 1), '{}')`,
}
