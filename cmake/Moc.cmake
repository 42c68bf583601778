# HEDDLE_MOC: the moc of AUTOMOC. It writes the same without the headers that a file includes, which it would
# read for each class: 3 s where LibTorch is among them.
get_target_property(moc Qt6::moc IMPORTED_LOCATION)
set(HEDDLE_MOC "${CMAKE_BINARY_DIR}/moc.sh")
configure_file("${CMAKE_CURRENT_LIST_DIR}/moc.sh.in" "${HEDDLE_MOC}" @ONLY
               FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
