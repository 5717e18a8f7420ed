// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {B20Rules} from "./B20Rules.sol";
import {B20ActivationRegistry} from "./B20ActivationRegistry.sol";

/// Stand-in of the policy registry: lists that tokens ask who may do something. Anyone may make one; tokens share them.
contract B20PolicyRegistry {
    event PolicyCreated(uint64 indexed policyId, address indexed creator, uint8 policyType);
    event PolicyAdminStaged(uint64 indexed policyId, address indexed currentAdmin, address indexed pendingAdmin);
    event PolicyAdminUpdated(uint64 indexed policyId, address indexed previousAdmin, address indexed newAdmin);
    event AllowlistUpdated(uint64 indexed policyId, address indexed updater, bool allowed, address[] accounts);
    event BlocklistUpdated(uint64 indexed policyId, address indexed updater, bool blocked, address[] accounts);
    event CompositePolicyUpdated(uint64 indexed policyId, address indexed updater, uint64[] childPolicyIds);

    error Unauthorized();
    error PolicyNotFound();
    error IncompatiblePolicyType();
    error ZeroAddress();
    error BatchSizeTooLarge(uint256 maxBatchSize);
    error NoPendingAdmin();
    error ChildPoliciesOutsideOfRange();
    error InvalidChildPolicy(uint64 childPolicyId);

    struct Layout {
        mapping(uint64 id => uint256 word) policies;
        mapping(uint64 id => mapping(address account => bool)) members;
        mapping(uint64 id => address) pendingAdmins;
        uint64 nextCounter;
        mapping(uint64 id => uint64[]) children;
    }

    // ERC-7201 root of "base.policy_registry".
    bytes32 private constant ROOT = 0x00503aeb06982fa1fe3151dc68f90b3946c55c449dfd447e49dcaece71ba4a00;

    uint8 private constant BLOCKLIST = 0;
    uint8 private constant ALLOWLIST = 1;
    uint8 private constant UNION = 2;
    uint8 private constant INTERSECT = 3;
    uint64 private constant ALWAYS_ALLOW = 0;
    uint64 private constant ALWAYS_BLOCK = (uint64(1) << 56) | 1;
    uint64 private constant INVERT = uint64(1) << 63;
    uint64 private constant FIRST_COUNTER = 2;
    uint256 private constant EXISTS = 1 << 255;
    uint256 private constant BATCH_MAX = 64;

    function layout() private pure returns (Layout storage at) {
        assembly {
            at.slot := ROOT
        }
    }

    function typeOf(uint64 base) private pure returns (uint8) {
        return uint8(base >> 56);
    }

    function isBuiltIn(uint64 base) private pure returns (bool) {
        return base == ALWAYS_ALLOW || base == ALWAYS_BLOCK;
    }

    function stored(uint64 base) private view returns (bool) {
        return layout().policies[base] & EXISTS != 0;
    }

    function policyExists(uint64 policyId) public view returns (bool) {
        if (policyId & INVERT != 0 && B20Rules.fork() < B20Rules.DENIM) return false;
        uint64 base = policyId & ~INVERT;
        return isBuiltIn(base) || stored(base);
    }

    function policyAdmin(uint64 policyId) public view returns (address) {
        return address(uint160(layout().policies[policyId & ~INVERT]));
    }

    function pendingPolicyAdmin(uint64 policyId) external view returns (address) {
        return layout().pendingAdmins[policyId & ~INVERT];
    }

    function compositePolicyChildIds(uint64 policyId) external view returns (uint64[] memory) {
        B20Rules.since(B20Rules.COBALT);
        return layout().children[policyId & ~INVERT];
    }

    function MIN_COMPOSITE_CHILD_POLICIES() external view returns (uint256) {
        B20Rules.since(B20Rules.COBALT);
        return 2;
    }

    function MAX_COMPOSITE_CHILD_POLICIES() external view returns (uint256) {
        B20Rules.since(B20Rules.COBALT);
        return 4;
    }

    function invertedPolicyId(uint64 policyId) external view returns (uint64) {
        B20Rules.since(B20Rules.DENIM);
        return policyId ^ INVERT;
    }

    function isAuthorized(uint64 policyId, address account) public view returns (bool) {
        bool inverted = policyId & INVERT != 0;
        if (inverted && B20Rules.fork() < B20Rules.DENIM) return false;
        uint64 base = policyId & ~INVERT;
        if (inverted && !isBuiltIn(base) && !stored(base)) return false;
        return authorizedBy(base, account) != inverted;
    }

    function authorizedBy(uint64 base, address account) private view returns (bool) {
        if (base == ALWAYS_ALLOW) return true;
        uint8 kind = typeOf(base);
        if (kind == BLOCKLIST) return !layout().members[base][account];
        if (kind == ALLOWLIST) return layout().members[base][account];
        if (kind > INTERSECT || B20Rules.fork() < B20Rules.COBALT) return false;
        uint64[] storage children = layout().children[base];
        for (uint256 i = 0; i < children.length; i++) {
            bool yes = isAuthorized(children[i], account);
            if (yes != (kind == INTERSECT)) return yes;
        }
        return kind == INTERSECT;
    }

    function createPolicy(address admin, uint8 policyType) external returns (uint64) {
        checkCreation(admin, policyType <= ALLOWLIST);
        return create(admin, policyType);
    }

    function createPolicyWithAccounts(address admin, uint8 policyType, address[] calldata accounts)
        external
        returns (uint64 id)
    {
        checkCreation(admin, policyType <= ALLOWLIST);
        if (accounts.length > BATCH_MAX) revert BatchSizeTooLarge(BATCH_MAX);
        id = create(admin, policyType);
        setMembers(id, true, accounts);
    }

    function createCompositePolicy(address admin, uint8 policyType, uint64[] calldata childPolicyIds)
        external
        returns (uint64 id)
    {
        B20Rules.since(B20Rules.COBALT);
        checkCreation(admin, policyType == UNION || policyType == INTERSECT);
        checkChildren(childPolicyIds);
        id = create(admin, policyType);
        layout().children[id] = childPolicyIds;
        emit CompositePolicyUpdated(id, msg.sender, childPolicyIds);
    }

    function updateComposite(uint64 policyId, uint64[] calldata childPolicyIds) external {
        B20Rules.since(B20Rules.COBALT);
        checkStored(policyId);
        if (typeOf(policyId) < UNION) revert IncompatiblePolicyType();
        checkAdmin(policyId);
        checkChildren(childPolicyIds);
        layout().children[policyId] = childPolicyIds;
        emit CompositePolicyUpdated(policyId, msg.sender, childPolicyIds);
    }

    function updateAllowlist(uint64 policyId, bool allowed, address[] calldata accounts) external {
        changeMembers(policyId, ALLOWLIST, allowed, accounts);
    }

    function updateBlocklist(uint64 policyId, bool blocked, address[] calldata accounts) external {
        changeMembers(policyId, BLOCKLIST, blocked, accounts);
    }

    function stageUpdateAdmin(uint64 policyId, address newAdmin) external {
        checkStored(policyId);
        checkAdmin(policyId);
        layout().pendingAdmins[policyId] = newAdmin;
        emit PolicyAdminStaged(policyId, msg.sender, newAdmin);
    }

    function finalizeUpdateAdmin(uint64 policyId) external {
        checkStored(policyId);
        address pending = layout().pendingAdmins[policyId];
        if (pending == address(0)) revert NoPendingAdmin();
        if (msg.sender != pending) revert Unauthorized();
        setAdmin(policyId, pending);
    }

    function renounceAdmin(uint64 policyId) external {
        checkStored(policyId);
        checkAdmin(policyId);
        setAdmin(policyId, address(0));
    }

    function checkCreation(address admin, bool fits) private view {
        B20ActivationRegistry(B20Rules.ACTIVATION).checkActivated(B20Rules.FEATURE_POLICIES);
        if (admin == address(0)) revert ZeroAddress();
        if (!fits) revert IncompatiblePolicyType();
    }

    function create(address admin, uint8 policyType) private returns (uint64 id) {
        Layout storage at = layout();
        if (at.nextCounter < FIRST_COUNTER) {
            at.policies[ALWAYS_ALLOW] = EXISTS;
            at.policies[ALWAYS_BLOCK] = EXISTS;
            at.nextCounter = FIRST_COUNTER;
        }
        uint64 counter = at.nextCounter++;
        id = (uint64(policyType) << 56) | counter;
        at.policies[id] = EXISTS | uint160(admin);
        emit PolicyCreated(id, msg.sender, policyType);
        emit PolicyAdminUpdated(id, address(0), admin);
    }

    function setAdmin(uint64 base, address admin) private {
        emit PolicyAdminUpdated(base, policyAdmin(base), admin);
        layout().policies[base] = EXISTS | uint160(admin);
        delete layout().pendingAdmins[base];
    }

    function changeMembers(uint64 policyId, uint8 kind, bool listed, address[] calldata accounts) private {
        B20ActivationRegistry(B20Rules.ACTIVATION).checkActivated(B20Rules.FEATURE_POLICIES);
        checkStored(policyId);
        if (typeOf(policyId) != kind) revert IncompatiblePolicyType();
        checkAdmin(policyId);
        if (accounts.length > BATCH_MAX) revert BatchSizeTooLarge(BATCH_MAX);
        setMembers(policyId, listed, accounts);
    }

    function setMembers(uint64 base, bool listed, address[] calldata accounts) private {
        for (uint256 i = 0; i < accounts.length; i++) layout().members[base][accounts[i]] = listed;
        if (typeOf(base) == ALLOWLIST) emit AllowlistUpdated(base, msg.sender, listed, accounts);
        else emit BlocklistUpdated(base, msg.sender, listed, accounts);
    }

    /// An inverted id has no record of its own: what is changed is named by its plain id.
    function checkStored(uint64 policyId) private view {
        if (!stored(policyId)) revert PolicyNotFound();
    }

    function checkAdmin(uint64 policyId) private view {
        if (msg.sender != policyAdmin(policyId)) revert Unauthorized();
    }

    function checkChildren(uint64[] calldata ids) private view {
        if (ids.length < 2 || ids.length > 4) revert ChildPoliciesOutsideOfRange();
        bool invertible = B20Rules.fork() >= B20Rules.DENIM;
        for (uint256 i = 0; i < ids.length; i++) checkStored(invertible ? ids[i] & ~INVERT : ids[i]);
        for (uint256 i = 0; i < ids.length; i++) {
            uint64 base = ids[i] & ~INVERT;
            if (isBuiltIn(base) || typeOf(base) > ALLOWLIST) revert InvalidChildPolicy(ids[i]);
        }
    }

    fallback() external {
        B20Rules.unknownCall();
    }
}
