import type { Report } from '../run.ts'

/** SARIF 2.1.0: a rule for each case, a result for each that failed. */
export function sarifReport({ cases, url }: Report): string {
  const document = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'assay-conformance',
            rules: cases.map(({ id, title, why, fix, level }) => ({
              id,
              shortDescription: { text: title },
              fullDescription: { text: why },
              help: { text: fix },
              properties: { level },
            })),
          },
        },
        results: cases
          .filter(({ verdict }) => verdict === 'failed')
          .map(({ id, seen, fix }) => ({
            ruleId: id,
            level: 'error',
            message: { text: `${seen}. ${fix}` },
            locations: [{ physicalLocation: { artifactLocation: { uri: url } } }],
          })),
      },
    ],
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
