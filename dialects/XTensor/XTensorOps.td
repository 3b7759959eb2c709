// Every op of the dialect, family by family.
#ifndef XTENSOR_OPS_TD
#define XTENSOR_OPS_TD

include "XTensor/Base.td"
include "XTensor/CallbackOps.td"
include "XTensor/CollectiveOps.td"
include "XTensor/ControlOps.td"
include "XTensor/DiffOps.td"
include "XTensor/ElementwiseOps.td"
include "XTensor/FourierOps.td"
include "XTensor/IndexOps.td"
include "XTensor/LibraryOps.td"
include "XTensor/LinalgOps.td"
include "XTensor/ReduceOps.td"
include "XTensor/ScanOps.td"
include "XTensor/ShapeOps.td"
include "XTensor/SortOps.td"
include "XTensor/WindowOps.td"

#endif // XTENSOR_OPS_TD
