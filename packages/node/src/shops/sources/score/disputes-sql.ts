export const disputes = {
  countSql: (wallet: string) =>
    `(select count(distinct d.id) from source_claim s join source_dispute d on d.domain = s.domain
      where s.wallet = ${wallet} and s.proven_at <= d.opened_at and d.state = 'upheld' and d.kind <> 'score'
        and d.claim_id is distinct from s.id)`,
}
