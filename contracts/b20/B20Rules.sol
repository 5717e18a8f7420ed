// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// What the parts of the B20 stand-in agree on: where they live, which fork is played, how unknown calls fail.
library B20Rules {
    address internal constant FACTORY = address(uint160(0x00B20f000000000000000000000000000000000000));
    address internal constant ACTIVATION = address(uint160(0x008453000000000000000000000000000000000001));
    address internal constant POLICIES = address(uint160(0x008453000000000000000000000000000000000002));

    // Places of the stand-in's own; the real chain has native code instead.
    address internal constant FORK_SWITCH = address(uint160(0xB20F0));
    address internal constant TOKEN_CODE = address(uint160(0xB20C0));
    address internal constant ASSET_CODE = address(uint160(0xB20C1));

    uint256 internal constant BERYL = 1;
    uint256 internal constant COBALT = 2;
    uint256 internal constant DENIM = 3;

    /// In a token's storage: 0 never created, 1 inside its creation, 2 created.
    bytes32 internal constant LIFECYCLE_SLOT = keccak256("devnet.b20.lifecycle");

    bytes32 internal constant FEATURE_ASSET = keccak256("base.b20_asset");
    bytes32 internal constant FEATURE_STABLECOIN = keccak256("base.b20_stablecoin");
    bytes32 internal constant FEATURE_POLICIES = keccak256("base.policy_registry");

    function fork() internal view returns (uint256 level) {
        address place = FORK_SWITCH;
        assembly ("memory-safe") {
            if iszero(staticcall(gas(), place, 0, 0, 0, 32)) { revert(0, 0) }
            level := mload(0)
        }
    }

    /// Native code of an older fork has never heard of the call.
    function since(uint256 level) internal view {
        if (fork() < level) unknownCall();
    }

    /// An unknown selector fails with its own four bytes, which is no ABI-encoded error.
    function unknownCall() internal pure {
        assembly ("memory-safe") {
            mstore(0, calldataload(0))
            revert(0, 4)
        }
    }

    function lifecycle() internal view returns (uint256 stage) {
        bytes32 slot = LIFECYCLE_SLOT;
        assembly ("memory-safe") {
            stage := sload(slot)
        }
    }

    function setLifecycle(uint256 stage) internal {
        bytes32 slot = LIFECYCLE_SLOT;
        assembly ("memory-safe") {
            sstore(slot, stage)
        }
    }

    /// 0 asset, 1 stablecoin: the eleventh byte of a token's address.
    function variantOf(address token) internal pure returns (uint8) {
        return uint8(uint160(token) >> 72);
    }

    function hasTokenPrefix(address token) internal pure returns (bool) {
        return uint160(token) >> 80 == 0xB2000000000000000000;
    }
}
