import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In this order, before all others: a long file that starts last leaves one core idle until it ends. */
const longest = [
  'test/console.browser.test.ts',
  'test/packed.test.ts',
  'test/simulation.test.ts',
  'test/kill-points.test.ts',
  'packages/till/src/store/open-store.db.test.ts',
  'test/model/model.test.ts',
  'test/model/planted.test.ts',
  'test/shops-removed.test.ts',
  'test/intents.test.ts',
  'test/till-sellers-die.test.ts',
  'test/creator-moves.test.ts',
  'test/matrix.test.ts',
  'test/examples.test.ts',
  'test/citations-offline.test.ts',
  'test/creator-distributors.test.ts',
  'test/options.test.ts',
  'test/mesh-witness.test.ts',
  'test/secrets-stay-in.test.ts',
  'test/till-adapters.test.ts',
  'test/matrix-cli.test.ts',
  'packages/node/src/shops/mesh/sybils.db.test.ts',
  'packages/node/src/shops/matrix/quality/quality.db.test.ts',
  'packages/conformance/src/self-test.test.ts',
  'test/remote-signer.test.ts',
  'test/restore-log.test.ts',
  'test/hostile-input.test.ts',
  'packages/node/src/tlog/restored-log.db.test.ts',
  'packages/node/src/tlog/prune-heads.db.test.ts',
  'packages/till/src/devnet/persistence.chain.test.ts',
  'test/two-processes.test.ts',
  'test/tokens.test.ts',
  'test/attack-command.test.ts',
  'test/mcp.test.ts',
  'test/mesh.test.ts',
  'test/fault-points.test.ts',
  'test/commerce.test.ts',
  'test/idle-node.test.ts',
  'test/readme.test.ts',
  'test/evidence-vectors.test.ts',
  'test/evidence-python.test.ts',
  'test/cli.test.ts',
  'test/citations.test.ts',
  'packages/node/src/shops/options/option-lives.fuzz.db.test.ts',
  'packages/node/src/shops/attestations/creators/release-waiting.db.test.ts',
  'packages/node/src/shops/attestations/creators/creator-debts.fuzz.db.test.ts',
  'packages/till/src/chain/wallet/missing-transactions.chain.test.ts',
  'packages/node/src/shops/intents/close-bucket.db.test.ts',
  'packages/till/src/store/backup/restore-backup.db.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = longest.indexOf(relative(this.ctx.config.root, moduleId))
      return index < 0 ? longest.length : index
    }
    // Stable: among the others the order of the runner remains.
    return (await super.sort(files)).sort((one, other) => place(one) - place(other))
  }
}
