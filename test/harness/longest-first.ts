import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In this order, before all others: a long file that starts last leaves one core idle until it ends. */
const longest = [
  'packages/conformance/src/self-test.test.ts',
  'test/packed.test.ts',
  'test/console.browser.test.ts',
  'test/kill-points.test.ts',
  'test/simulation.test.ts',
  'test/model/model.test.ts',
  'test/model/planted.test.ts',
  'packages/till/src/store/open-store.db.test.ts',
  'test/shops-removed.test.ts',
  'test/till-sellers-die.test.ts',
  'test/creator-moves.test.ts',
  'test/restore-log.test.ts',
  'test/creator-distributors.test.ts',
  'test/hostile-input.test.ts',
  'test/intents.test.ts',
  'test/till-adapters.test.ts',
  'test/secrets-stay-in.test.ts',
  'packages/till/src/devnet/persistence.chain.test.ts',
  'test/matrix.test.ts',
  'test/remote-signer.test.ts',
  'test/mesh-witness.test.ts',
  'test/commerce.test.ts',
  'test/fault-points.test.ts',
  'test/idle-calls.test.ts',
  'test/citations-offline.test.ts',
  'test/readme.test.ts',
  'packages/till/src/store/backup/restore-backup.db.test.ts',
  'test/mesh.test.ts',
  'packages/till/src/chain/wallet/missing-transactions.chain.test.ts',
  'packages/node/src/tlog/restored-log.db.test.ts',
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
