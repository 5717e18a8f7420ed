import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished, TestRunner } from 'vitest'

/** An empty folder that is gone when the test is over, or, asked for outside of one, when the file is. */
export function useFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `assay-${name}-`))
  const onEnd = TestRunner.getCurrentTest() ? onTestFinished : afterAll
  onEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
