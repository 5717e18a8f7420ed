// Compiles contracts/ into contracts/artifacts/. With --check it writes nothing and exits 1 if a committed artifact
// differs from what its source compiles to. Sources and artifacts that are the same as when they were last compiled
// (artifacts/compiled.sha256) are not compiled again, except with --check --all, as before a release.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const contractsFolder = join(dirname(fileURLToPath(import.meta.url)), '..', 'contracts')
const artifactsFolder = join(contractsFolder, 'artifacts')

const sourcePaths = readdirSync(contractsFolder, { recursive: true })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.sol'))
  .sort()
const sources = Object.fromEntries(
  sourcePaths.map((path) => [path, { content: readFileSync(join(contractsFolder, path), 'utf8') }]),
)

const settings = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 10_000 },
  // Without the metadata trailer, equal code has equal bytes whatever comments and paths say.
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
}
const hashPath = join(artifactsFolder, 'compiled.sha256')

/** Of all that decides what is compiled, and of what it was compiled to. */
function hashOfAll() {
  const hash = createHash('sha256').update(JSON.stringify([compilerVersion(), settings, sources]))
  for (const file of artifactFiles())
    hash.update(JSON.stringify([file, readFileSync(join(artifactsFolder, file), 'utf8')]))
  return `${hash.digest('hex')}\n`
}

const compilerVersion = () =>
  JSON.parse(readFileSync(join(contractsFolder, '..', 'node_modules', 'solc', 'package.json'), 'utf8')).version
const artifactFiles = () =>
  existsSync(artifactsFolder)
    ? readdirSync(artifactsFolder)
        .filter((file) => file.endsWith('.json'))
        .sort()
    : []

const isCheck = process.argv.includes('--check')
if (
  isCheck &&
  !process.argv.includes('--all') &&
  existsSync(hashPath) &&
  readFileSync(hashPath, 'utf8') === hashOfAll()
) {
  console.log('contracts and artifacts are as they were last compiled')
  process.exit(0)
}

const { default: solc } = await import('solc')

function compile() {
  const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })))
  const complaints = output.errors ?? []
  if (complaints.length > 0) {
    for (const complaint of complaints) console.error(complaint.formattedMessage)
    process.exit(1)
  }
  return output.contracts
}

/** Without the names that types have in the source: they decide nothing. */
const withoutInternalTypes = (abi) =>
  JSON.parse(JSON.stringify(abi, (key, value) => (key === 'internalType' ? undefined : value)))

/** An entry of the interface a line, so that a change shows as the entries it touches. */
const render = ({ abi, bytecode, deployedBytecode }) =>
  `{
 "abi": [${abi.map((entry) => `\n  ${JSON.stringify(entry)}`).join(',')}
 ],
 "bytecode": "${bytecode}",
 "deployedBytecode": "${deployedBytecode}"
}
`

function renderArtifacts(contracts) {
  const artifacts = new Map()
  for (const path of sourcePaths) {
    const contractName = basename(path, '.sol')
    const { abi, evm } = contracts[path][contractName] ?? {}
    // Internal libraries and abstract contracts are part of the contracts that use them; nobody deploys them.
    if (!evm?.bytecode.object || (abi.length === 0 && /^library /m.test(sources[path].content))) continue
    const artifact = {
      abi: withoutInternalTypes(abi),
      bytecode: `0x${evm.bytecode.object}`,
      deployedBytecode: `0x${evm.deployedBytecode.object}`,
    }
    artifacts.set(contractName, render(artifact))
  }
  return artifacts
}

const artifacts = renderArtifacts(compile())
const committed = artifactFiles().map((file) => basename(file, '.json'))
const orphans = committed.filter((name) => !artifacts.has(name))

if (isCheck) {
  const changed = [...artifacts].filter(([name, text]) => {
    const path = join(artifactsFolder, `${name}.json`)
    return !existsSync(path) || readFileSync(path, 'utf8') !== text
  })
  for (const [name] of changed) console.error(`${name}: the committed artifact is not what its source compiles to`)
  for (const name of orphans) console.error(`${name}: an artifact without a source`)
  if (changed.length + orphans.length > 0) {
    console.error('run: node scripts/compile-contracts.mjs')
    process.exit(1)
  }
  console.log(`${artifacts.size} contracts match their sources`)
} else {
  mkdirSync(artifactsFolder, { recursive: true })
  for (const name of orphans) rmSync(join(artifactsFolder, `${name}.json`))
  for (const [name, text] of artifacts) writeFileSync(join(artifactsFolder, `${name}.json`), text)
  writeFileSync(hashPath, hashOfAll())
  console.log(`${artifacts.size} contracts compiled`)
}
