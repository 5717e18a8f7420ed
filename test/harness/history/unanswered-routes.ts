/** Routes whose example is not answered on this node. What they read before they refuse is counted all the same. */
const refused: Record<string, readonly string[]> = {
  'its example names what is not there, and nobody has more of it with more sales': [
    ...['credit.bond.release', 'mandates.revoke', 'payments.dispute', 'payments.dispute.show', 'invoices.issue'],
    ...['invoices.show', 'notifications.verify', 'notifications.watches.add', 'notifications.remove', 'tokens.check'],
    ...['tokens.badge', 'tokens.report', 'tokens.changes', 'matrix.screens.remove', 'subscriptions.status'],
    ...['subscriptions.rotate', 'subscriptions.revoke', 'subscriptions.renewal', 'subscriptions.cancel'],
    ...['subscriptions.pause', 'subscriptions.resume', 'subscriptions.upgrade', 'rewards.redeem', 'mesh.evidence.give'],
    ...['log.tile1', 'log.tile2', 'log.tile3', 'log.tile4', 'log.tile5', 'log.witness.head', 'sources.terms.rsl'],
    ...['attestations.show', 'creators.epoch', 'royalties.remit', 'royalties.show', 'options.series.show'],
    ...[
      'options.settlements.show',
      'options.quote',
      'options.withdraw',
      'options.days',
      'options.bid',
      'console.asset',
    ],
  ],
  'needs something signed by others, or a token': [
    ...['mandates.create', 'auth.session', 'auth.whoami', 'mesh.announce', 'log.witness.add', 'market.intents.ticket'],
    ...['market.intents.events', 'market.intents.files', 'market.intents.file', 'market.intents.series'],
    ...['agents.declarations.give', 'agents.capabilities.declare', 'agents.capabilities.revoke', 'agents.deactivate'],
  ],
  'has nothing to sell without demo data': [
    ...['matrix.live', 'matrix.vip', 'matrix.delayed', 'matrix.vip.bulk', 'subscriptions.standard.base'],
    ...[
      'subscriptions.vip.base',
      'subscriptions.standard.polygon',
      'subscriptions.vip.polygon',
      'market.intents.stream',
    ],
    ...['options.buy', 'options.write', 'options.order'],
  ],
  'refuses its example by its rules': [
    ...['mcp.get', 'mcp.delete', 'credit.refund', 'tokens.diff', 'sources.wallet', 'sources.terms.set', 'cite.attest'],
    ...[
      'claims.anchor',
      'creators.threshold',
      'creators.move',
      'options.close',
      'operator.withdraw',
      'operator.dispute',
    ],
  ],
}

const known = new Set(Object.values(refused).flat())

/** A route that is new and not answered has no read that counts: give it an example that is, or a reason here. */
export const unexplainedOf = (outcomes: Record<string, string>): string[] =>
  Object.entries(outcomes)
    .filter(([name, said]) => !/^2\d\d$|^done$/.test(said) && !known.has(name))
    .map(([name, said]) => `${name} was not answered (${said}), and no reason is known`)
