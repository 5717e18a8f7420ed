// Written by test/docs.test.ts from docs/operations.md.
export const alarmAdvice: Readonly<Record<string, string>> = {
  books_differ:
    '`assay pause sales --reason …` if it grows. Compare `assay ledger entries onchain:…` with the address in an explorer; look at `assay review list`. Custody that shrinks without a payout means a stolen key.',
  channel_claim_failed:
    'Fund the wallet, or put its key back into `SETTLER_KEYS`: keep old keys until their channels are empty. Nothing more is sold to a channel after a third of its withdraw delay.',
  channel_loss:
    'Find out why claims failed for a day. The amount is on the account `loss:channels`.',
  channels_differ:
    'Look for claims of `PAY_TO` that this node did not make.',
  settlement_contradicted:
    'The payment stays `unknown`. Check the RPC endpoints against each other; if they agree, the facilitator is wrong: change `FACILITATOR`.',
  facilitator_distrusted:
    'Nothing is sent to it for ten minutes, and again after each further contradiction: paid routes answer 503. Compare its answers with an explorer, or change `FACILITATOR`.',
  paid_after_refusal:
    'Its payer has the amount as credit. Repeated: the facilitator settles what it refused; change `FACILITATOR`.',
  transfer_unexplained:
    'It is tried again after a wait that doubles up to ten minutes; the log names the error and the transaction.',
  reconcile_failed:
    'The log names it. Sales go on; transfers of that chain are not credited meanwhile.',
  reorg_not_undone:
    'The log names the payment. Others become final as usual; it is tried again every five seconds.',
  effect_not_revoked:
    'The log names payment and route. Revoke it by hand. In an embedded till declare routes before `runJobs()`: until then a refund waits ten minutes, a reorganisation a day.',
  reorg:
    'Postings are reversed by themselves. Many at once: lower `EXPOSURE_CAP_USD`, or `assay pause sales` until the chain is calm.',
  wallet_unfunded:
    'Send it gas. Payments wait as `unknown` or are refused with 503; nothing is lost.',
  wallet_used_elsewhere:
    'Its key is in use somewhere else, or stolen. Give the node its own wallets.',
  rpc_wrong_chain:
    'Correct its URL. It has no vote until it answers for the right one.',
  screening_list_broken:
    'The log has the reason. Put a whole file in its place; no restart is needed.',
  account_frozen:
    'Nothing is sent to it. Ask your counsel; its row is in `payout_hold` or in the review queue.',
  facilitator_unauthorized:
    'Check `CDP_API_KEY_ID` and `CDP_API_KEY_SECRET`, and the clock of the machine.',
  sale_uncommitted:
    'fix the route named in the log; the buyer can spend or reclaim the credit',
  creators_differ:
    'The log names the parts. `assay pause payouts` until it is explained; nothing is lost, for each epoch pays its own leaves only.',
  distributor_not_accepted:
    'If it was meant: `assay creators distributors`, then `assay creators accept-distributor`; see another distributor (docs/operations.md). Otherwise put the old settings back.',
  creator_move_unknown:
    'Tell the creator named in the log: its wallet can refuse it (`refuseMoves`) and claim until the move is ready. Nothing else is at risk.',
  signer_unavailable:
    'Start it again, check its certificates. Everything goes on by itself.',
  signer_refused:
    'The log has its reason. The payout waits; raise the limit in the file of the signer if it is right.',
  signer_wrong_signature:
    'Stop the signer and find out who runs at its address.',
  payouts_unfunded:
    'Send USDC from `PAY_TO` to `CUSTODY` on that chain; payouts go on by themselves. The log has the amount as `due_micro`, and `assay payouts list` prints it.',
  payouts_stopped:
    'Look for a transfer that nobody here sent: the key may be stolen. It ends by itself when the money is back. `assay payouts accept-loss <network> --reason …` books the loss and lets payouts go on.',
  payouts_refused:
    'The log has the reason of the endpoint. Payouts stay signed and are tried again; other endpoints may take them.',
  payout_above_limit:
    '`assay payouts list --state waiting`, then `assay payouts approve …`, or raise the limit in `PAYOUTS`.',
  restored:
    'Nothing, if you restored it: payouts, creator roots, credit refunds and automatic credit go on when the chain is reconciled, in about a minute. Renewals of subscriptions and draws under mandates wait for their wallets, or for `assay resume renewals` and `assay resume mandates` where nothing was lost: after a restore (docs/operations.md). If you did not, find out who used the custody key or the settlement key, for example by hand while the node was stopped.',
  log_forked:
    'When the log is stopped (docs/operations.md).',
  fees_too_high:
    'Wait, or pay by hand. Transactions are sent again when fees fall.',
  transaction_stuck:
    'Check the RPC endpoints and the fees of the chain. It is sent again as it is until it is taken.',
  payee_blocked:
    'Its payout is parked, others are paid. `assay payouts approve …` once it can receive; unused, the money goes back to its account after a day.',
  option_collateral:
    'stop trading with `assay pause options --reason …`, compare `assay ledger entries option_collateral:<symbol>@<network>` with the events of the series',
  intent_clock:
    'Set the clock of the machine right. If it had leapt ahead, nothing is published until the time it showed then.',
  peer_log_forked:
    'Both signed heads are in the table `log_witness_fork`: proof for anybody who pins the key of that log. Nothing of this node is affected; tell the peer’s operator and its users.',
  mesh_alone:
    '`assay mesh peers`; is `API_URL` reachable from outside, does `MESH_PEERS` name living nodes? Selling goes on; nobody finds this node through others meanwhile.',
  smtp_unavailable:
    'Check it and its user and password. Mails wait up to three days and leave by themselves; `assay notifications status` shows how many.',
  partition_missing:
    'See the log for their names. A busy table is tried again each hour; rows that are in the default partition already stay there',
}
